# fish completion for pmu-query; made by completions/generate
complete -c pmu-query -l url -x -d 'ask the ClickHouse server at URL (PMU_QUERY_URL, or localhost)'
complete -c pmu-query -l credentials -r -F -d 'FILE has user:password, a token, or a value of Authorization'
complete -c pmu-query -l duckdb -x -d 'ask files of rows, by duckdb, instead of a server'
complete -c pmu-query -l raw -d 'print the answer as it comes: rows, folded text or a table'
complete -c pmu-query -l output -s o -r -F -d 'write a page to FILE, by pmu-flame'
complete -c pmu-query -l help -s h -d 'print this help'
complete -c pmu-query -l version -s V -d 'print the version'
complete -c pmu-query -f -a 'top stacks service callers deploy hosts builds growth type= service= host= from= to= limit= function= at= build= runs='
