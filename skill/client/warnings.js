/** The warnings of a version, in one line for each kind. */
import { log, shown } from './output.js';

/**
 * @typedef {{ kind: string, path: string, target?: string, message: string, count?: number, places?: string[] }} Warning
 */

const placesMax = 4;

/**
 * A message names its own place; the next few follow it.
 * @param {string} id of the version
 * @param {readonly Warning[]} warnings
 */
export function logWarnings(id, warnings) {
  const kinds = [...new Set(warnings.map(({ kind }) => kind))];
  let isComplete = true;
  for (const kind of kinds) {
    const alike = warnings.filter((one) => one.kind === kind);
    const { message = '' } = alike[0] ?? {};
    const count = alike.reduce((sum, one) => sum + (one.count ?? 1), 0);
    const others = othersOf(alike);
    const also = others.length > 0 ? `, also: ${others.slice(0, placesMax).map(shown).join(', ')}` : '';
    log(`! ${shown(message)}${count > 1 ? ` (${count} in all${also})` : ''}`);
    if (others.length > placesMax) isComplete = false;
  }
  if (!isComplete) log(`→ for all of them: frontage deployment read ${shown(id)} --json`);
}

/**
 * Where the same is wrong besides the first place.
 * @param {readonly Warning[]} alike
 */
function othersOf([first, ...others]) {
  if (others.length === 0) return (first?.places ?? []).filter((place) => place !== first?.path);
  return others.map(({ path, target }) => (target === undefined ? path : `${path} “${target}”`));
}
