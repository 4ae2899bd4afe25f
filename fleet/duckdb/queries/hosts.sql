-- SPDX-License-Identifier: Apache-2.0
-- Hosts unlike the others.  `differs` is the part of a host's value that other functions take than in
-- the sum of all hosts, from 0 to 1; `by_chance` is what the number of its samples alone would make
-- of it.  `function` is what takes more there than everywhere, and `share` is its part of the host's
-- value.
WITH own AS MATERIALIZED (
	SELECT host, coalesce(stack[-1], '') AS function, sum(value) AS value, sum(samples) AS samples
	FROM samples GROUP BY ALL
), hosts AS (
	SELECT host, sum(value) AS of_host, sum(samples) AS samples FROM own GROUP BY host
	HAVING sum(value) > 0
), everywhere AS (
	SELECT function, sum(value) / (SELECT sum(value) FROM own) AS of_all FROM own GROUP BY function
), shares AS (
	SELECT host, h.samples, function, of_all, o.value / of_host AS here
	FROM own o JOIN hosts h USING (host) JOIN everywhere USING (function)
), spread AS (
	SELECT sum(sqrt(of_all * (1 - of_all))) AS all_functions FROM everywhere
), compared AS (
	SELECT host, any_value(samples) AS samples,
		greatest(sum(abs(here - of_all)) + 1 - sum(of_all), 0) / 2 AS differs,
		any_value(all_functions) / sqrt(2 * pi() * any_value(samples)) AS by_chance,
		arg_max(function, here - of_all) AS function, arg_max(here, here - of_all) AS share,
		arg_max(of_all, here - of_all) AS everywhere
	FROM shares CROSS JOIN spread GROUP BY host
)
SELECT plain(host) AS name, samples, round(differs, 4) AS differs, round(by_chance, 4) AS by_chance,
	plain(function) AS function, round(share, 4) AS share, round(everywhere, 4) AS everywhere
FROM compared ORDER BY compared.differs - coalesce(compared.by_chance, 0) DESC, compared.host
LIMIT CAST(coalesce(getvariable('limit'), 25) AS BIGINT);
