/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mark - how a file is known to be pmukit, the program to copy.
 *
 * Only pmukit has the two texts joined: what looks for them has them apart.
 */
#pragma once

#define PMUKIT_MARK_BEGIN "run one of the tools, "
#define PMUKIT_MARK_END "which are all in this file"
