/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version - which pmukit this is, and what it was built of.
 */
#pragma once

/* "0.1" for a release, "0.1-37-g0123456789" for a later commit: see packaging/version. */
extern const char version_text[];

/* Lines for a person: the commit, the compiler, and the libraries. */
extern const char version_details[];
