# ClickHouse servers of the tests.  A test file sources this after tests/lib.sh.  Servers listen on
# free ports of 127.0.0.1, keep their data in $scratch, and end with the check that starts them.
#
#	clickhouse_start COUNT		so many shards, empty, which hold the tables of fleet/clickhouse;
#					one is a server without a cluster
#	clickhouse_stop			end all servers
#	clickhouse_kill SHARD		end this server, 1 to COUNT, by SIGKILL
#	clickhouse_again SHARD		start it again, with the data that it had
#	clickhouse_ask SHARD SQL	what this server answers
#	clickhouse_send SHARD <ROWS	insert rows
#	clickhouse_base SHARD		the URL of this server
#	clickhouse_url SHARD		where rows are pushed to

clickhouse=$scratch/clickhouse

clickhouse_needed() {
	any_user
	unsanitized
	command -v clickhouse-server >/dev/null && command -v clickhouse-client >/dev/null &&
		command -v curl >/dev/null || skip "no clickhouse-server: tests/setup fleet installs it"
}

# clickhouse_ports COUNT: so many free ports
clickhouse_ports() {
	python3 - "$1" <<-"EOF"
	import socket, sys
	taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
	print(*[s.getsockname()[1] for s in taken])
	EOF
}

# clickhouse_configure SHARD COUNT HTTP TCP, with the ports of all in the file "ports"
clickhouse_configure() {
	dir=$clickhouse/$1
	mkdir -p "$dir/data" "$dir/tmp"
	shards=$(while read -r _ tcp; do
		echo "<shard><replica><host>127.0.0.1</host><port>$tcp</port></replica></shard>"
	done <"$clickhouse/ports")
	cat >"$dir/config.xml" <<-END
	<yandex>
	<logger><level>error</level><log>$dir/log</log><errorlog>$dir/errors</errorlog></logger>
	<http_port>$3</http_port><tcp_port>$4</tcp_port><listen_host>127.0.0.1</listen_host>
	<path>$dir/data/</path><tmp_path>$dir/tmp/</tmp_path>
	<users_config>users.xml</users_config>
	<default_profile>default</default_profile><default_database>default</default_database>
	<mark_cache_size>67108864</mark_cache_size><background_pool_size>2</background_pool_size>
	<max_concurrent_queries>50</max_concurrent_queries>
	<remote_servers><pmu_fleet>$shards</pmu_fleet></remote_servers>
	</yandex>
	END
	cat >"$dir/users.xml" <<-END
	<yandex>
	<profiles><default>
	<max_memory_usage>${CLICKHOUSE_MEMORY:-1500000000}</max_memory_usage>
	<max_threads>2</max_threads>
	$([ "$2" = 1 ] || sed -n '/<insert_distributed_sync>/p' "$TOP/fleet/clickhouse/users.xml")
	</default></profiles>
	<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
	<profile>default</profile><quota>default</quota></default></users>
	<quotas><default/></quotas>
	</yandex>
	END
}

clickhouse_port() { sed -n "$1p" "$clickhouse/ports" | cut -d' ' -f"${2:-1}"; }

clickhouse_answers() {
	until curl -sf -m 5 "$(clickhouse_base "$1")/ping" >/dev/null; do
		kill -0 "$(cat "$clickhouse/$1/pid")" 2>/dev/null || return
		sleep 0.1
	done
}

clickhouse_again() {
	(cd "$clickhouse/$1" && exec clickhouse-server --config-file=config.xml) \
		>"$clickhouse/$1/output" 2>&1 &
	echo $! >"$clickhouse/$1/pid"
	clickhouse_answers "$1" || {
		cat "$clickhouse/$1/output"
		grep -m 3 -h Exception "$clickhouse/$1/errors"
		return 1
	}
}

clickhouse_kill() {
	kill -9 "$(cat "$clickhouse/$1/pid")"
	wait "$(cat "$clickhouse/$1/pid")" 2>/dev/null || :
}

clickhouse_stop() {
	for pid in $(cat "$clickhouse"/*/pid 2>/dev/null); do
		! kill "$pid" 2>/dev/null || wait "$pid" 2>/dev/null || :
	done
	rm -rf "$clickhouse"
}

# clickhouse_load SHARD DATABASE FILE...: run files of fleet/clickhouse there
clickhouse_load() {
	shard=$1 database=$2
	shift 2
	for file; do
		case $file in /*) ;; *) file=$TOP/fleet/clickhouse/$file ;; esac
		clickhouse-client --port "$(clickhouse_port "$shard" 2)" -d "$database" -n \
			<"$file"
	done
}

# Ports that were free may be taken before a server listens there.
clickhouse_run() {
	clickhouse_stop
	mkdir "$clickhouse"
	clickhouse_ports $((2 * $1)) | xargs -n 2 >"$clickhouse/ports"
	for shard in $(seq "$1"); do
		clickhouse_configure "$shard" "$1" $(sed -n "${shard}p" "$clickhouse/ports")
		clickhouse_again "$shard" || return
	done
}

clickhouse_start() {
	clickhouse_run "$1" || clickhouse_run "$1" || clickhouse_run "$1"
	for shard in $(seq "$1"); do
		clickhouse_load "$shard" default /dev/stdin <<-END
			CREATE DATABASE pmu;
			CREATE DATABASE pmu_shard;
		END
		if [ "$1" = 1 ]; then
			clickhouse_load 1 pmu schema.sql lines.sql
		else
			clickhouse_load "$shard" pmu_shard schema.sql lines.sql
			clickhouse_load "$shard" pmu cluster.sql cluster-lines.sql
		fi
	done
}

clickhouse_ask() {
	printf %s "$2" | curl -sS --fail-with-body -m 100 --data-binary @- \
		"$(clickhouse_base "$1")/?database=pmu${3:+&$3}"
}

clickhouse_base() { echo "http://127.0.0.1:$(clickhouse_port "$1")"; }
clickhouse_url() {
	echo "$(clickhouse_base "$1")/?format_csv_delimiter=%01&query=$(
		)INSERT%20INTO%20pmu.lines%20FORMAT%20CSV"
}
clickhouse_send() { curl -sS --fail-with-body -m 100 --data-binary @- "$(clickhouse_url "$1")"; }
