/** The commands that make more than one API call. */
import { check } from './check.js';
import { clone, gitCredential } from './git.js';
import { importProject } from './import.js';
import { login, logout } from './login.js';
import { deploy, open, preview, publish, restore } from './publishing.js';
import { screenshot } from './screenshot.js';
import { completion, skill } from './skill.js';

/**
 * @typedef {{
 *   use: string, about: string,
 *   run: (server: import('../server.js').Server, words: string[], options: import('../server.js').Options) => Promise<number>,
 * }} Command `run` returns the exit code.
 */

/** @type {Record<string, Command>} */
export const commands = {
  login,
  logout,
  clone,
  check,
  import: importProject,
  'git-credential': gitCredential,
  publish,
  preview,
  deploy,
  restore,
  open,
  screenshot,
  skill,
  completion,
};
