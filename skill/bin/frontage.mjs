#!/usr/bin/env node
/**
 * The terminal client of Frontage: one file, no dependencies, Node 20 or newer. It reads the OpenAPI description of the server: each operation
 * `site.publish` is the command `frontage site publish`. A few further commands make more than one API call.
 *
 * Exit codes: 0 done, 1 refused or failed, 2 usage error, 3 not finished yet, 4 a person must act.
 *
 * Its version is the start of this file's hash. `--version` prints it and says whether the server has a different one.
 */
import '../client/main.js';
