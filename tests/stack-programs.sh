# stack-programs.sh - more programs for tests/whole-stacks, which sources this.  Each has
# NAME_version, what it is, and NAME_load, which records its work.
# shellcheck shell=sh

all_kinds='lua luajit ruby php gnuplot octave ocaml d cgo clang x265 svtav1 x264 imagemagick apt
	dash gdb throws throws_static throws_lto haskell r java_c1 java_c2 java_pointers trampoline
	nasm musl musl_size musl_static musl_static_size musl_pointers musl_static_pointers'

# deb NAME PACKAGE: the upstream version of a package of Debian
deb() {
	dpkg-query -W -f='${Version}' "$2" | sed -n "s/^[0-9]*://; s/[-+~].*//; s/^/$1 /p" |
		grep .
}

lua_version() { deb Lua lua5.4; }
lua_load() {
	work lua5.4 -e '
		local function walk(t, depth)
			if depth == 0 then table.sort(t, function(a, b) return a.k < b.k end) return #t end
			return walk(t, depth - 1) + 1
		end
		while true do
			local t = {}
			for i = 1, 2000 do t[i] = { k = i * 7919 % 2003 .. "x" } end
			local go = coroutine.wrap(function() coroutine.yield(walk(t, 20)) end)
			go()
			string.gsub(string.rep("ab", 1000), "a", function(c) return c .. "c" end)
		end'
}

luajit_version() { deb LuaJIT luajit; }
luajit_load() {
	work luajit -e '
		local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
		while true do
			fib(24)
			local t = {}
			for i = 1, 2000 do t[i] = i * 7919 % 2003 end
			table.sort(t, function(a, b) return a < b end)
			string.gsub(string.rep("ab", 1000), "a", function(c) return c .. "c" end)
		end'
}

ruby_version() { deb Ruby ruby; }
ruby_load() {
	work ruby -e '
		def walk(a, d) = d == 0 ? a.sort_by { |x| x[:k] }.map { |x| x[:k].to_s * 3 }.join : walk(a, d - 1)
		loop do
			a = (0...2000).map { |i| { k: i * 7919 % 2003 } }
			Fiber.new { Fiber.yield walk(a, 15) }.resume
			e = Enumerator.new { |y| 300.times { |i| y << i } }
			300.times { e.next }
			"ab".*(1000).gsub(/a/) { |c| c.upcase }
		end'
}

php_version() { deb PHP php8.2-cli; }
php_load() {
	work php -r '
		function walk($a, $d) {
			if ($d) return walk($a, $d - 1);
			usort($a, fn($x, $y) => strcmp($x["k"], $y["k"]));
			return count($a);
		}
		function numbers($n) { for ($i = 0; $i < $n; $i++) yield $i; }
		while (true) {
			$a = array_map(fn($i) => ["k" => ($i * 7919 % 2003) . "x"], range(0, 1000));
			$f = new Fiber(function () use ($a) { Fiber::suspend(walk($a, 15)); });
			$f->start();
			foreach (numbers(1000) as $i) preg_replace_callback("/a/", fn($m) => ucfirst($m[0]), "banana");
		}'
}

gnuplot_version() { deb gnuplot gnuplot-nox; }
gnuplot_load() {
	work gnuplot -e '
		set terminal svg; set output "/dev/null"; set samples 3000; set isosamples 60;
		do for [i = 1:100000] { plot sin(x * i) + besj0(x), gamma(abs(x)); splot x**2 + sin(y) }'
}

octave_version() { deb Octave octave; }
octave_load() {
	work octave-cli --norc --no-gui --eval '
		function r = walk(n) if n == 0; r = sum(sort(rand(1, 500))); else r = walk(n - 1) + 1; end; end
		while cputime() < '"$cpu"'
			for i = 1:20; walk(mod(i, 12)); end
			cellfun(@(x) numel(strsplit(x, ",")), repmat({"a,b,c"}, 1, 50));
			rand(60) \ rand(60);
		end'
}

ocaml_version() { deb OCaml ocaml-nox; }
ocaml_load() {
	cat >work.ml <<-'ML'
		exception Found of int
		let rec walk d l = if d = 0 then List.sort compare l else List.map succ (walk (d - 1) l)
		let find l = try List.iter (fun x -> if x = 7 then raise (Found x)) l; 0 with Found x -> x
		let () =
			while true do
				let l = List.init 400 (fun i -> i * 7919 mod 2003) in
				ignore (find (walk 10 l));
				ignore (Printf.sprintf "%d %s" (List.length l) (String.concat "," (List.map string_of_int l)));
				ignore (Hashtbl.hash (List.fold_left (fun a x -> x :: a) [] l))
			done
	ML
	ocamlfind ocamlopt -package str work.ml -o work-ocaml 2>/dev/null || ocamlopt work.ml -o work-ocaml
	work ./work-ocaml
}

d_version() { deb "D (LDC)" ldc; }
d_load() {
	cat >work.d <<-'D'
		import std.algorithm, std.array, std.conv, std.range, core.thread;
		size_t walk(string[] a, int d) {
			if (d) return walk(a, d - 1) + 1;
			sort!((x, y) => x < y)(a);
			return a.length;
		}
		void main() {
			size_t n;
			for (;;) {
				auto a = iota(1000).map!(i => to!string(i * 7919 % 2003)).array;
				auto f = new Fiber({ n += walk(a, 10); Fiber.yield(); });
				f.call();
				try { to!int("x" ~ a[0]); } catch (ConvException e) { n++; }
			}
		}
	D
	ldc2 -O2 work.d -of=work-d >&2
	work ./work-d
}

cgo_version() { go version | sed 's/go version go\([^ ]*\).*/Go \1 with C and callbacks/'; }
cgo_load() {
	mkdir cgo
	cat >cgo/main.go <<-'GO'
		package main

		/*
		#include <stdlib.h>
		extern int order(void *, void *);
		static int by(const void *a, const void *b) { return order((void *)a, (void *)b); }
		static void sort_them(int *p, int n)
		{
			for (int i = 0; i < n; i++)
				p[i] = i * 7919 % 2003;
			qsort(p, n, 4, by);
		}
		static long burn(long n) { long s = 0; for (volatile long i = 0; i < n; i++) s += i; return s; }
		*/
		import "C"
		import (
			"sort"
			"unsafe"
		)

		//export order
		func order(a, b unsafe.Pointer) C.int { return *(*C.int)(a) - *(*C.int)(b) }

		func main() {
			var p [200]C.int
			for {
				C.sort_them(&p[0], 200)
				C.burn(100000)
				s := make([]int, 5000)
				for i := range s {
					s[i] = i * 7919 % 5003
				}
				sort.Ints(s)
			}
		}
	GO
	(cd cgo && HOME=$dir GOCACHE=$dir/cache GO111MODULE=off go build -o ../work-cgo main.go)
	work ./work-cgo
}

clang_version() { clang++ --version | sed -n 's/.*clang version \([0-9.]*\).*/Clang \1/p'; }
clang_load() {
	for header in map string regex; do echo "#include <$header>"; done >t.cc
	for i in $(seq 40); do
		echo "int f$i(const std::string &s) { std::map<int, std::string> m; std::regex r(s);
			for (int i = 0; i < $i; i++) m[i] = std::regex_replace(s, r, m[i - 1]);
			return (int)m.size(); }"
	done >>t.cc
	work clang++ -fintegrated-cc1 -O2 -c t.cc -o t.o
}

# encode NAME OPTION...: by that codec
encode() {
	codec=$1
	shift
	work ffmpeg -y -v error -f lavfi -i "testsrc2=size=640x360:rate=30:duration=60" \
		-f lavfi -i "sine=duration=60" -c:v "$codec" "$@" -c:a aac -f matroska /dev/null
}
x264_version() { deb 'FFmpeg with x264' libx264-164; }
x264_load() { encode libx264 -preset medium; }
x265_version() { deb 'FFmpeg with x265' libx265-199; }
x265_load() { encode libx265 -x265-params log-level=none; }
svtav1_version() { deb 'FFmpeg with SVT-AV1' libsvtav1enc1; }
svtav1_load() { encode libsvtav1; }

imagemagick_version() { deb ImageMagick imagemagick-6.q16; }
imagemagick_load() {
	work convert-im6.q16 -limit thread 2 -size 800x600 plasma:fractal -blur 0x6 -charcoal 3 \
		-paint 4 -distort Barrel '0.2 0 0' -swirl 90 -resize 150% -quality 90 png:/dev/null
}

apt_version() { deb apt apt; }
apt_load() { work apt-cache -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= dump; }

dash_version() { deb dash dash; }
dash_load() {
	work dash -c '
		walk() { if test $1 -gt 0; then walk $(($1 - 1)); else eval "a=\${b#x}"; fi; }
		while :; do b=xyz; walk 20; for i in a b c; do case $i in [bc]) a=$i$b ;; esac; done; done'
}

gdb_version() { deb GDB gdb; }
gdb_load() {
	work gdb -nx -batch -ex 'set complaints 0' -ex 'maint expand-symtabs' -ex 'info functions x' \
		-ex 'disassemble main' "$BIN/pmu-sample"
}

throws_version() { echo 'C++ exceptions'; }
throws_load() {
	g++ -O2 $1 "$here/throws.cc" -o throws
	work sh -c 'for i in $(seq '$((20 * cpu))'); do ./throws; done'
}
throws_static_version() { echo 'the same, static'; }
throws_static_load() { throws_load -static; }
throws_lto_version() { echo 'the same, -flto -fno-plt, stripped'; }
throws_lto_load() { throws_load '-flto -fno-plt -s'; }

haskell_version() { deb 'Haskell (GHC)' ghc; }
haskell_load() {
	cat >Work.hs <<-'HS'
		import qualified Data.Map.Strict as M
		import Data.List (sort, foldl')
		walk :: Int -> [Int] -> [Int]
		walk 0 l = sort l
		walk d l = map succ (walk (d - 1) l)
		main :: IO ()
		main = mapM_ round' [1 ..]
		  where
		    round' k = print (M.foldl' (+) 0 (M.fromList (zip (walk 5 (numbers k)) [1 ..])))
		    numbers k = take 3000 (iterate step k)
		    step x = (x * 7919 + 1) \`mod\` 20011
	HS
	sed -i 's/\\`/`/g' Work.hs
	ghc -O2 -v0 Work.hs -o work-ghc >&2
	work ./work-ghc
}

r_version() { deb R r-base-core; }
r_load() {
	cat >work.R <<-'R'
		walk <- function(n) if (n == 0) sum(sapply(1:50, function(i) sqrt(i))) else walk(n - 1) + 1
		fib <- function(n) if (n < 2) n else fib(n - 1) + fib(n - 2)
		repeat {
			walk(20)
			fib(12)
			lm(mpg ~ wt + hp, data = mtcars)
			Reduce(function(a, b) paste0(a, b), letters, accumulate = TRUE)
			tryCatch(stop("x"), error = function(e) conditionMessage(e))
		}
	R
	work R --vanilla --slave -f work.R
}

java_version_of() { java -version 2>&1 | sed -n "s/.*version \"\([0-9.]*\).*/Java \1$1/p"; }
java_run() {
	cat >Work.java <<-'JAVA'
		import java.util.*;
		public class Work {
			static int hot(int n) {
				for (int i = 0; i < 20000; i++) n = n * 31 + (n >>> 3) ^ i;
				return n;
			}
			static int c(int n) { return hot(n) + 1; }
			static int b(int n) { return c(n + 1) * 3; }
			static int walk(int d, int n) { return d == 0 ? b(n) : walk(d - 1, n) + 1; }
			public static void main(String[] x) {
				for (int s = 0; ; ) {
					s += walk(5, s);
					TreeMap<String, Integer> m = new TreeMap<>();
					for (int i = 0; i < 200; i++) m.put("x" + i * 7919 % 2003, i);
					s += m.size();
				}
			}
		}
	JAVA
	javac Work.java >&2
	work java "$@" Work
}
java_c1_version() { java_version_of ', C1'; }
java_c1_load() { java_run -XX:TieredStopAtLevel=1; }
java_c2_version() { java_version_of ', C2'; }
java_c2_load() { java_run; }
java_pointers_version() { java_version_of ', -XX:+PreserveFramePointer'; }
java_pointers_load() { java_run -XX:+PreserveFramePointer; }

trampoline_version() { echo 'C with nested functions, -O2'; }
trampoline_load() {
	cat >nested.c <<-'C'
		#include <stdlib.h>
		static volatile long sum;
		__attribute__((noinline)) static void nest(int *p, int n, int key)
		{
			int by(const void *a, const void *b)
			{
				for (volatile int i = 0; i < 20; i++)
					;
				return (*(int *)a ^ key) - (*(int *)b ^ key);
			}
			qsort(p, n, sizeof(*p), by);
			sum += p[0];
		}
		__attribute__((noinline)) static void outer(int *p, int n, int key) { nest(p, n, key); sum++; }
		int main(void)
		{
			static int p[5000];
			for (int key = 0; ; key++) {
				for (int i = 0; i < 5000; i++)
					p[i] = i * 7919 % 5003;
				outer(p, 5000, key);
			}
		}
	C
	gcc -O2 -Wno-trampolines nested.c -o nested
	work ./nested
}

nasm_version() { deb 'assembly of nasm below C' nasm; }
nasm_load() {
	cat >hot.asm <<-'ASM'
		default rel
		section .text
		extern turn
		global hot:function
		global mixed:function
		hot:	push rbx
			push r12
			sub rsp, 40
			mov rbx, rdi
		.next:	imul rax, rax, 31
			add rax, rbx
			dec rbx
			jnz .next
			add rsp, 40
			pop r12
			pop rbx
			ret
		mixed:	push rbp
			push rbx
			mov rbx, rsp
			sub rsp, 200
			and rsp, -64
			mov rbp, rdi
		.next:	mov rdi, rbp
			call turn wrt ..plt
			mov rdi, 3000
			call hot
			dec rbp
			jnz .next
			mov rsp, rbx
			pop rbx
			pop rbp
			ret
		section .note.GNU-stack noalloc noexec nowrite progbits
	ASM
	cat >nasm.c <<-'C'
		long mixed(long);
		volatile long sum;
		void turn(long n) { for (long i = 0; i < 500; i++) sum += i * n; }
		__attribute__((noinline)) long lower(long n) { return mixed(n) + 1; }
		__attribute__((noinline)) long upper(long n) { return lower(n + 1) * 3; }
		int main(void) { for (;;) sum += upper(50); }
	C
	nasm -f elf64 hot.asm -o hot.o
	gcc -O2 nasm.c hot.o -o work-nasm
	work ./work-nasm
}

# musl_load OPTION...: qsort with a callback, memcpy, malloc and snprintf
musl_run() {
	cat >musl.c <<-'C'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define APART __attribute__((noinline)) static
		static volatile long sum;
		static int by(const void *a, const void *b)
		{
			for (volatile int i = 0; i < 20; i++)
				;
			return *(int *)a - *(int *)b;
		}
		APART void sorter(int *p, int n) { qsort(p, n, 4, by); sum++; }
		APART void copier(char *a, char *b) { for (int i = 0; i < 60; i++) memcpy(a, b, 1 << 18); sum++; }
		APART void allocer(void)
		{
			void *q[1000];
			for (int k = 0; k < 60; k++) {
				for (int i = 0; i < 1000; i++)
					q[i] = malloc(i * 3 + 1);
				for (int i = 0; i < 1000; i++)
					free(q[i]);
			}
			sum++;
		}
		APART void printer(void)
		{
			char text[200];
			for (int i = 0; i < 30000; i++)
				sum += snprintf(text, sizeof(text), "%d %s %g", i, "hello", i * 0.37);
		}
		APART void lower(int *p, char *a, char *b)
		{
			sorter(p, 10000);
			copier(a, b);
			allocer();
			printer();
			sum++;
		}
		APART void upper(int *p, char *a, char *b) { lower(p, a, b); sum++; }
		int main(void)
		{
			int *p = malloc(40000);
			char *a = malloc(1 << 18), *b = malloc(1 << 18);
			for (;;) {
				for (int i = 0; i < 10000; i++)
					p[i] = rand();
				upper(p, a, b);
			}
		}
	C
	musl-gcc "$@" musl.c -o work-musl
	work ./work-musl
}
musl_version() { command -v musl-gcc >&2 && deb "musl" musl | sed 's/$/ -O2/'; }
musl_load() { musl_run -O2; }
musl_size_version() { deb musl musl | sed 's/$/ -Os/'; }
musl_size_load() { musl_run -Os; }
musl_static_version() { deb musl musl | sed 's/$/ -O2, static/'; }
musl_static_load() { musl_run -O2 -static; }
musl_static_size_version() { deb musl musl | sed 's/$/ -Os, static/'; }
musl_static_size_load() { musl_run -Os -static; }
musl_pointers_version() { deb musl musl | sed 's/$/ -O2 with frame pointers/'; }
musl_pointers_load() { musl_run -O2 -fno-omit-frame-pointer; }
musl_static_pointers_version() { deb musl musl | sed 's/$/ -Os with frame pointers, static/'; }
musl_static_pointers_load() { musl_run -Os -static -fno-omit-frame-pointer; }
