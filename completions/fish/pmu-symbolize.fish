# fish completion for pmu-symbolize; made by completions/generate
complete -c pmu-symbolize -l kallsyms -r -F -d 'take the kernel\\'s symbols from FILE, a copy of /proc/kallsyms'
complete -c pmu-symbolize -l output -s o -r -F -d 'write to FILE instead of stdout'
complete -c pmu-symbolize -l quiet -s q -d 'print no messages; the exit status still tells'
complete -c pmu-symbolize -l verbose -s v -d 'print a summary of counts and costs at the end'
complete -c pmu-symbolize -l help -s h -d 'print this help'
complete -c pmu-symbolize -l version -s V -d 'print the version'
