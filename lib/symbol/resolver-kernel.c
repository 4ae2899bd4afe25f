/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's symbols: this one's, or those of a file. */
#include "sample/build-id.h"
#include "symbol/resolver-internal.h"

#include <sys/utsname.h>

bool is_local(const struct stream_reader *in)
{
	const struct stream_origin *origin = stream_origin(in);
	struct utsname here;

	return origin->host && origin->kernel && uname(&here) == 0 &&
	       !strcmp(origin->host, here.nodename) && !strcmp(origin->kernel, here.release);
}

/* Is KERNEL, as recorded, the one that runs here? */
static bool is_this_kernel(const struct stream_reader *in, const struct object *kernel)
{
	uint8_t id[BUILD_ID_MAX] = { 0 };

	if (!kernel->build_id_size)
		return is_local(in);
	return build_id_of_notes_file("/sys/kernel/notes", id) &&
	       !memcmp(id, kernel->build_id, BUILD_ID_MAX);
}

const struct mapping *kernel_image(const struct resolver *r)
{
	const struct space *kernel = &r->spaces.kernel;

	for (size_t i = 0; i < kernel->mappings; i++)
		if (r->spaces.objects.object[kernel->mapping[i].object].kind == OBJECT_KERNEL)
			return &kernel->mapping[i];
	return NULL;
}

void open_kernel(struct resolver *r, const struct stream_reader *in)
{
	static const struct object unknown_kernel;
	const struct mapping *image = kernel_image(r);
	const char *file = r->options.kallsyms;

	r->kernel_tried = true;
	if (!file && !is_this_kernel(in, image ? &r->spaces.objects.object[image->object]
					       : &unknown_kernel)) {
		report_note(r->report, "kernel addresses stay without names: another kernel was "
			    "recorded than the one here; give its symbols with --kallsyms");
		return;
	}
	r->kallsyms = kallsyms_open(file ? file : "/proc/kallsyms");
	if (kallsyms_trouble(r->kallsyms))
		report_note(r->report, "kernel addresses stay without names: %s",
			    kallsyms_trouble(r->kallsyms));
	/* perf's convention: a kernel mapping's offset is the address of _text (or _stext). */
	uint64_t text = kallsyms_address(r->kallsyms, "_text");
	if (image && text && image->file_offset)
		r->kernel_shift = text - image->file_offset;	/* it booted elsewhere in memory */
}
