# fish completion for pmu-stat; made by completions/generate
complete -c pmu-stat -l event -s e -x -a '(pmu-events --complete (commandline -ct) 2>/dev/null)' -d 'count EVENT (see pmu-event(7)); may be repeated'
complete -c pmu-stat -l runs -s n -x -d 'run the command RUNS times (1)'
complete -c pmu-stat -l bench -d 'print lines in the format of Go\'s benchmarks, for benchstat'
complete -c pmu-stat -l per -x -d 'divide values by N, and name the unit, as in op=1000000'
complete -c pmu-stat -l quiet -s q -d 'print no messages; only the exit status shows errors'
complete -c pmu-stat -l verbose -s v -d 'print a summary of counts and costs at the end'
complete -c pmu-stat -l help -s h -d 'print this help'
complete -c pmu-stat -l version -s V -d 'print the version; with -v, what it is built from'
