/** Turns an error of the framework into a sentence for the site's owner and a longer text for the log. */
import { relative } from 'node:path';
import { stripVTControlCharacters as plain } from 'node:util';
import { nearest, packageOf } from './offered.mjs';

/**
 * @typedef {Error & {
 *   frame?: string, hint?: string, id?: string, issues?: { path?: string[], message: string }[],
 *   loc?: { file?: string, line?: number, column?: number },
 * }} FrameworkError
 */

/**
 * @param {unknown} thrown
 * @param {string} root
 * @param {Record<string, string>} offered versions of the offered packages, by name
 * @returns {{ message: string, text: string }}
 */
export function describe(thrown, root, offered) {
  if (!(thrown instanceof Error)) return { message: String(thrown), text: String(thrown) };
  /** @type {FrameworkError} */
  const error = thrown;
  const summary = plain((issues(error) ?? error.message).replaceAll(`${root}/`, '')).trim();
  const place = location(error, root);
  const parts = [summary];
  if (place && !summary.includes(place)) parts.push(`  at ${place}`);
  if (error.frame) parts.push(plain(error.frame));
  if (error.hint) parts.push(`  Hint: ${plain(error.hint)}`);
  const stack = error.stack?.split('\n').filter((row) => /^\s+at /.test(row) && row.includes(`${root}/`)) ?? [];
  if (stack.length > 0) parts.push(stack.slice(0, 8).join('\n').replaceAll(`${root}/`, ''));
  const brief = explain(summary, offered) ?? shorten(summary);
  return { message: place && !brief.includes(place) ? `${place}: ${brief}` : brief, text: parts.join('\n') };
}

const elsewhere = 'Deploy what needs more than that as built output.';

/**
 * A sentence for causes that the framework's own message explains for other places: a package, a server or a network.
 * @param {string} summary
 * @param {Record<string, string>} offered
 */
function explain(summary, offered) {
  if (/server adapter/.test(summary))
    return `Sites are static files, so no page can be rendered on request. ${elsewhere}`;
  if (/^(fetch failed|.*\bENOTFOUND\b|.*\bEAI_AGAIN\b)/.test(summary))
    return `A build has no network, so it cannot fetch anything. Put the data or the image into the source. ${elsewhere}`;
  const name = missingPackage(summary);
  if (!name || Object.hasOwn(offered, name)) return undefined;
  const near = nearest(name, offered);
  return `The package "${name}" is not offered here${near ? `; the nearest that is offered is "${near}"` : ''}. ${elsewhere}`;
}

const missing = [
  /Cannot find (?:module|package) '([^'\n]+)'/,
  /failed to resolve import "([^"\n]+)"/i,
  /Could not (?:resolve|import) [`'"]([^`'"\n]+)[`'"]/i,
  /Preprocessor dependency "([^"\n]+)" not found/,
  /Install it with:\s+npm install (\S+)/,
];

/** @param {string} summary */
function missingPackage(summary) {
  for (const pattern of missing) {
    const name = packageOf(pattern.exec(summary)?.[1] ?? '');
    if (name && !name.startsWith('node:')) return name;
  }
  return undefined;
}

/**
 * The first sentences, without the bundler's error count and names before them, and its code frame and calls after them.
 * @param {string} summary
 */
function shorten(summary) {
  const words =
    summary
      .replace(/^Build failed with \d+ errors?:\s*/, '')
      .replace(/^\[(?:plugin )?[\w@/:.-]+\]\s*/, '')
      .split(/[\u2500-\u257f]|\n\s+at /)[0]
      ?.replace(/^(\S+:\d+:\d+)\s+\w*Error: /, '$1: ') ?? '';
  return words.replaceAll('**', '').replace(/\s+/g, ' ').trim().slice(0, 600);
}

/**
 * Configuration errors have a list of issues, and a message of JSON.
 * @param {FrameworkError} error
 */
function issues(error) {
  if (!Array.isArray(error.issues)) return undefined;
  const lines = error.issues.map(({ path, message }) => `${path?.join('.') || '(whole)'}: ${message}`);
  return `astro.config is not valid. ${lines.join('; ')}`;
}

/**
 * @param {FrameworkError} error
 * @param {string} root
 */
function location(error, root) {
  const file = error.loc?.file ?? error.id ?? fromStack(error, root)?.file;
  if (!file) return undefined;
  /** @type {{ line?: number, column?: number }} */
  const at = error.loc?.line ? error.loc : (fromStack(error, root) ?? {});
  const name = String(file)
    .replace(/\?.*$/s, '')
    .replace(/^file:\/\//, '');
  const shown = name.startsWith(`${root}/`) ? relative(root, name) : name;
  return at.line ? `${shown}:${at.line}:${at.column ?? 1}` : shown;
}

/**
 * @param {Error} error
 * @param {string} root
 */
function fromStack(error, root) {
  for (const row of error.stack?.split('\n') ?? []) {
    const found = /\(?(?:file:\/\/)?(\/[^():]+):(\d+):(\d+)\)?$/.exec(row.trim());
    if (found?.[1]?.startsWith(`${root}/src/`))
      return { file: found[1], line: Number(found[2]), column: Number(found[3]) };
  }
  return undefined;
}
