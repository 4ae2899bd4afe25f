/* SPDX-License-Identifier: Apache-2.0 */
/* The page for people: a form that builds addresses.  It has no script. */
#include "serve/internal.h"

#include <event2/buffer.h>

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>pmu-serve</title>\n"
	"<style>\n"
	"body { font: 16px/1.5 system-ui, sans-serif; max-width: 50em; margin: 2em auto; "
	"padding: 0 1em; color: #222; background: #fff }\n"
	"label { display: block; margin: .5em 0 } label span { display: inline-block; "
	"width: 8em }\n"
	"input, select { font: inherit; width: 14em } button { font: inherit; margin-right: 1em }\n"
	"td { padding: .2em 1em .2em 0; vertical-align: top }\n"
	"@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } "
	"a { color: #8bf } }\n"
	"</style>\n<h1>pmu-serve</h1>\n";

static const char form[] =
	"<form method=\"get\" action=\"/flame\">\n"
	"<label><span>event</span><input name=\"event\" list=\"events\" value=\"cycles\"></label>\n"
	"<datalist id=\"events\"><option>cycles<option>instructions<option>cache-misses"
	"<option>branch-misses<option>cpu-clock<option>page-faults<option>context-switches"
	"</datalist>\n"
	"<label><span>period</span><input name=\"period\" placeholder=\"events per sample\">"
	"</label>\n"
	"<label><span>seconds</span><input name=\"seconds\" value=\"10\"></label>\n"
	"<label><span>callgraph</span><select name=\"callgraph\"><option value=\"\">as this server "
	"chooses<option>fp<option>dwarf<option>none</select></label>\n";

static const char process[] =
	"<label><span>pid</span><input name=\"pid\"></label>\n"
	"<label><span>comm</span><input name=\"comm\" placeholder=\"or its name\"></label>\n";

static const char form_end[] =
	"<input type=\"hidden\" name=\"fallback\" value=\"1\">\n"
	"<p><button>Flame graph</button>"
	"<button formaction=\"/debug/pprof/pmu\">Profile</button></p>\n</form>\n";

static const char tail[] =
	"<p>The same for pprof: <code>go tool pprof "
	"'http://HOST/debug/pprof/pmu?event=cycles&amp;seconds=10'</code></p>\n"
	"<table>\n"
	"<tr><td><a href=\"/debug/pprof/profile?seconds=10\">profile</a><td>where CPU time goes, "
	"by a timer, like Go's profile\n"
	"<tr><td><a href=\"/debug/pprof/offcpu?seconds=10\">offcpu</a><td>where threads wait\n"
	"<tr><td><a href=\"/debug/pprof/block?seconds=10\">block</a><td>where threads wait for "
	"other threads\n"
	"<tr><td><a href=\"/debug/pprof/mutex?seconds=10\">mutex</a><td>what made them wait: the "
	"code that held the lock\n"
	"<tr><td><a href=\"/flame?seconds=10\">flame</a><td>the first profile as a page\n"
	"<tr><td><a href=\"/debug/pprof/events\">events</a><td>what can be sampled here, and what "
	"prevents it\n"
	"<tr><td><a href=\"/debug/pprof/cmdline\">cmdline</a><td>what is sampled\n"
	"<tr><td><a href=\"/metrics\">metrics</a><td>what this server did, and what it cost\n"
	"</table>\n</html>\n";

static const char history[] =
	"<h2>History</h2>\n<form method=\"get\" action=\"/history/flame\">\n"
	"<label><span>from</span><input name=\"from\" value=\"-1h\"></label>\n"
	"<label><span>to</span><input name=\"to\" placeholder=\"2026-11-22T03:12:00Z\"></label>\n"
	"<p><button>Flame graph</button>"
	"<button formaction=\"/history\">Profile</button></p>\n</form>\n";

void index_page_write(const struct server *s, struct evbuffer *out)
{
	evbuffer_add(out, head, sizeof(head) - 1);
	evbuffer_add(out, form, sizeof(form) - 1);
	if (s->settings->any)
		evbuffer_add(out, process, sizeof(process) - 1);
	evbuffer_add(out, form_end, sizeof(form_end) - 1);
	if (s->keeper)
		evbuffer_add(out, history, sizeof(history) - 1);
	evbuffer_add(out, tail, sizeof(tail) - 1);
}
