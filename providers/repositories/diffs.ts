/** The changes of a commit as a unified diff. */
import { assertSha, type Place, streamGit } from './git.ts';

const options = [
  '--root',
  '-p',
  '-m',
  '--first-parent',
  '--no-commit-id',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
];

/** At most `max` characters; git is ended when they are read. A cut diff ends in a line with `…`. */
export async function readDiff(place: Place, commit: string, max: number): Promise<string> {
  assertSha(commit);
  let text = '';
  for await (const chunk of streamGit(place, ['diff-tree', ...options, '--no-renames', '-U2', commit])) {
    text += chunk.toString();
    if (text.length > max) return `${text.slice(0, max)}\n…`;
  }
  return text;
}
