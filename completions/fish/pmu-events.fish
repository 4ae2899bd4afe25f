# fish completion for pmu-events; made by completions/generate
complete -c pmu-events -l list -s l -d 'list events, and which can be opened here'
complete -c pmu-events -l quiet -s q -d 'print no messages; the exit status still tells'
complete -c pmu-events -l verbose -s v -d 'print a summary of counts and costs at the end'
complete -c pmu-events -l help -s h -d 'print this help'
complete -c pmu-events -l version -s V -d 'print the version'
