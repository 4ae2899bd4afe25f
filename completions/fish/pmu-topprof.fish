# fish completion for pmu-topprof; made by completions/generate
complete -c pmu-topprof -l no-scale -d 'leave values of multiplexed events as they were counted'
complete -c pmu-topprof -l output -s o -r -F -d 'write to FILE instead of stdout'
complete -c pmu-topprof -l quiet -s q -d 'print no messages; the exit status still tells'
complete -c pmu-topprof -l verbose -s v -d 'print a summary of counts and costs at the end'
complete -c pmu-topprof -l help -s h -d 'print this help'
complete -c pmu-topprof -l version -s V -d 'print the version'
