/** Our end of the `pre-receive` hook's pipe: receives the push, returns the decision. */
import { accessSync, constants } from 'node:fs';
import { basename, join } from 'node:path';
import type { Duplex } from 'node:stream';
import { type BuildSettings, looksLikeKey, settingsFile } from '#providers/build-settings.ts';
import { printable } from '#providers/paths.ts';
import { findGit } from '#providers/repositories/find-git.ts';
import { hooksDir } from '#providers/repositories/git.ts';
import { call, renderCalls } from '#rules/calls/calls.ts';
import { olderGit, oldestGit } from '#runtime/git-version.mjs';
import type { Address } from './access.ts';
import type { RefUpdate } from './push.ts';
import { sentence, type Violation } from './rules.ts';

/**
 * A push as the hook reports it. `quarantine` is the folder of its objects inside `objects/`; undefined if the push
 * only deletes branches.
 */
export type Push = { quarantine: string | undefined; updates: RefUpdate[] };

/** The decision on a push, with the lines for the pusher's terminal. */
export type Decision = { accepted: boolean; lines: string[] };

const linesMax = 20;
const requestBytesMax = 1_048_576;

/**
 * Throws if git would ignore the hook: then every push would be accepted. A hook may be missing or not executable, and a
 * git before 2.31 ignores all of our settings.
 */
export function assertHookRuns(): void {
  accessSync(join(hooksDir, 'pre-receive'), constants.X_OK);
  const old = olderGit(findGit().version);
  if (old !== undefined) throw new Error(`git ${old} is too old: install git ${oldestGit} or newer`);
}

/** Waits for the request of the hook and responds. Returns silently if the push ends before its hook. */
export async function answerHook(channel: Duplex, decide: (push: Push) => Promise<Decision>): Promise<void> {
  const request = await readRequest(channel);
  if (request === undefined) return;
  const { accepted, lines } = await decide(parsePush(request));
  channel.end([accepted ? 'accepted' : 'refused', ...lines, ''].join('\n'));
}

async function readRequest(channel: Duplex): Promise<string | undefined> {
  let text = '';
  for await (const chunk of channel.iterator({ destroyOnReturn: false })) {
    text += (chunk as Buffer).toString('utf8');
    if (text.endsWith('\n.\n')) return text;
    if (text.length > requestBytesMax) throw new Error('the push updates too many branches');
  }
  return undefined;
}

function parsePush(request: string): Push {
  const [quarantine = '', ...lines] = request.split('\n').slice(0, -2);
  const updates = lines.map((line) => {
    const [from = '', to = '', ref = ''] = line.split(' ');
    return { ref, from: known(from), to: known(to) };
  });
  // Only the folder's name: git reports the path with resolved links, and we join it to our own.
  return { quarantine: quarantine === '' ? undefined : basename(quarantine), updates };
}

function known(sha: string): string | null {
  return /^0*$/.test(sha) ? null : sha;
}

/** The lines for the pusher's terminal: the fault and the remedy for each file. */
export function refusalLines(verdicts: readonly Violation[]): string[] {
  if (verdicts.length === 0) return [];
  const shown = verdicts
    .slice(0, linesMax)
    .flatMap((verdict) => [`  ${sentence(verdict)}`, `    ${renderCalls(verdict.remedy, 'http')}`]);
  const more = verdicts.length - linesMax;
  return ['', 'Refused. Nothing has changed.', ...shown, ...(more > 0 ? [`  … and ${more} more.`] : []), ''];
}

/** Tags are reported as pushed and not stored: a client may push them with its branches without being asked. */
export function tagLines(tags: readonly string[]): string[] {
  if (tags.length === 0) return [];
  return ['', `Ignored: sites have no tags (${tags.length} in this push).`, ''];
}

/** A warning for each public variable that looks like a key. */
export function keyLines({ env }: BuildSettings): string[] {
  const names = Object.entries(env).flatMap(([name, value]) => (looksLikeKey(value) ? [name] : []));
  if (names.length === 0) return [];
  const what = `Warning: ${settingsFile} has values that look like secret keys: ${names.join(', ')}.`;
  return ['', what, 'Every visitor can read them. If they are secret, replace the keys where they come from.', ''];
}

/** What becomes of a push to main of a site that publishes on push. */
export function publishLines({ siteId }: Address, mayPublish: boolean): string[] {
  const lines = mayPublish
    ? ['Publishing, as publish_on_push says.', `To follow it: ${call('deployment.list', { id: siteId })}`]
    : [
        'Not published, although publish_on_push is set: this password may not publish.',
        `Create one that may: ${call('source.credential', { id: siteId })} with "publish": true.`,
      ];
  return ['', ...lines.map((line) => renderCalls(line, 'http')), ''];
}

const photosMax = 5;

/** What the pusher should know about photos that say where they were taken; nothing if there are none. */
export function photoLines(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const more = paths.length - photosMax;
  return [
    '',
    `Warning (photo_location): photos that name the place where they were taken: ${paths.length}`,
    ...paths.slice(0, photosMax).map((path) => `  ${printable(path)}`),
    ...(more > 0 ? [`  … and ${more} more.`] : []),
    'Remove the location in an image editor, or send the photos with an API call, which removes it.',
    '',
  ];
}
