# maker-columns.py DIRECTORY MODELS - print "MODEL::NAME CONFIG CONFIG1" of each event in the columns
# that Intel and Arm publish: intel-core.tsv and arm-core.tsv in DIRECTORY.  MODELS is models.tsv.
import csv
import sys

# Fixed counters, as the kernel knows them; those of slots are their twins on a general counter.
FIXED = {"INST_RETIRED.ANY": 0xc0, "CPU_CLK_UNHALTED.THREAD": 0x3c,
         "CPU_CLK_UNHALTED.CORE": 0x3c, "CPU_CLK_UNHALTED.REF_TSC": 0x300,
         "CPU_CLK_UNHALTED.REF": 0x300, "CPU_CLK_UNHALTED.THREAD_ANY": 0x20003c,
         "TOPDOWN_BAD_SPECULATION.ALL": 0x73, "TOPDOWN_FE_BOUND.ALL": 0x19c,
         "TOPDOWN_RETIRING.ALL": 0x2c2}


def numbers(text):
    return [int(part, 0) for part in text.replace(" ", "").split(",")] if text.strip() else [0]


names = {}
for line in open(sys.argv[2], encoding="utf-8"):
    if not line.startswith("#"):
        row = line.split("\t")
        names[row[2]] = row[0]

for row in csv.DictReader(open(sys.argv[1] + "/intel-core.tsv", encoding="utf-8"), delimiter="\t"):
    code, umask = numbers(row["code"])[0], numbers(row["umask"])[0]
    registers = numbers(row["msr_index"])
    if registers == [0x1a7]:
        umask = numbers(row["umask"])[1]
    config = (code + umask * 256 + int(row["edge"]) * 2**18 + int(row["any"] or 0) * 2**21 +
              int(row["inv"]) * 2**23 + int(row["cmask"]) * 2**24 +
              numbers(row["umask_ext"])[0] * 2**40)
    if code == 0:
        config = FIXED.get(row["event"], config)
    value = numbers(row["msr_value"])[0] if registers[0] else 0
    print("%s::%s 0x%x 0x%x" % (names[row["table"]], row["event"], config, value))

for row in csv.DictReader(open(sys.argv[1] + "/arm-core.tsv", encoding="utf-8"), delimiter="\t"):
    print("%s::%s 0x%x 0x0" % (names[row["cpu"]], row["event"], int(row["code"], 0)))
