# What tests of time and memory share: costs, streams of this machine, small programs.

# within SECONDS MIB COMMAND...: it takes no more CPU time, nor more memory; its messages are
# in the file "said"
within() {
	seconds=$1 mib=$2
	shift 2
	(
		ulimit -t $((10 * seconds + 20))
		cost sh -c 'exec "$@" 2>said' - "$@" >costs
	)
	read -r s kib <costs
	echo "$s s, $kib KiB: $*"
	sanitized && return
	at_most "$s" "$seconds"
	at_most "$kib" $((mib * 1024))
}

# with_local FILE: compose FILE as a stream of this machine, from Python on stdin that has
# records in the list R: executable(pid, address, size, path, offset), sample(pid, address)
with_local() {
	{
		cat <<-END
		import os
		def text(t):
		    t = t.encode() + b"\0"
		    return struct.pack("<I", len(t)) + t
		def executable(pid, start, size, path, offset=0):
		    return record(10, struct.pack("<IIQQQIIQQII", pid, pid, start, size, offset, 0, 0,
		                                  0, 0, 5, 2) + pad(path.encode()))
		def sample(pid, address):
		    return record(9, struct.pack("<QIIQQ", address, pid, pid, 1000, 1))
		round_end = record(68, b"")
		here = os.uname()
		R = [record(80, struct.pack("<Q", 3) + text(here.nodename)),
		     record(80, struct.pack("<Q", 4) + text(here.release)),
		     record(64, attr(1, 0, 1, IP | TID | TIME | PERIOD, flags=0))]
		END
		cat
		echo 'out = pipe(*R)'
	} | compose "$1"
}

# program [OPTION...]: ./t with the function "code" of a page, in few bytes; options of ld
program() {
	printf '%s\n' .text '.globl code' '.type code, @function' 'code: .skip 4096, 0x90' \
		'.size code, 4096' >t.s
	as t.s -o t.o
	ld -n -e code "$@" t.o -o t
	address=$(nm t | sed -n 's/ T code//p')
	offset=$(readelf -lW t | awk '$1 == "LOAD" && / E /{ print $2; exit }')
}

# elf FILE BYTES: a program with BYTES of code at 0x401000, the function _start, and what files
# called debug_* hold as sections
elf() {
	printf '%s\n' .text '.globl _start' '.type _start, @function' "_start: .skip $2, 0x90" \
		".size _start, $2" >q.s
	for section in debug_*; do
		printf '%s\n' ".section .$section" ".incbin \"$section\"" >>q.s
	done
	as q.s -o q.o
	ld -Ttext=0x401000 q.o -o "$1"
}

# stepped COUNT STEP: so many addresses of that code
stepped() { python3 -c "for i in range($1): print(hex(0x401000 + $2 * i)[2:])"; }

# units COUNT ABBREVIATIONS UNIT: make the sections of so many units, whose bytes these are: UNIT
# without its length, in terms of i
units() {
	python3 - "$@" <<-'EOF'
		from struct import pack
		import sys
		count, unit = int(sys.argv[1]), eval("lambda i: " + sys.argv[3])
		open("debug_abbrev", "wb").write(eval(sys.argv[2]))
		with open("debug_info", "wb") as out:
		    for body in map(unit, range(count)):
		        out.write(pack("<I", len(body)) + body)
	EOF
}
