# report.py TEXT JSON - that both forms of pmu-events --doctor --report have the same facts.
import json
import sys

lines = open(sys.argv[1]).read().splitlines()
found = json.load(open(sys.argv[2]))
assert found['format'] == 1 and lines[0].startswith('pmukit %s: ' % found['version'])
section, at = None, 0
for line in lines[2:]:
    if line and not line.startswith(' '):
        section = line
    if line.startswith('  '):
        fact = found['facts'][at]
        at += 1
        assert fact['section'] == section, (fact, section)
        assert line == '  %-26s %s' % (fact['name'], fact['text']), (fact, line)
        assert ('unit' in fact) == ('number' in fact), fact
assert at == len(found['facts']) > 30
