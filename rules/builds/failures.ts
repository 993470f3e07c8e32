/** Why a version failed, in words for an owner: a build reports those of a compiler. Pure. */

type Fault = { code: string; message: string };
/** `raw`: the compiler's message, where `sentence` is not the message itself. */
export type Reason = { sentence: string; raw: string | null };

/** A file of the site's source, and where in it. */
const place = /(?:^|[\s("'`])((?:src|public)\/[^\s:"'`(),]*\.\w+|astro\.config\.\w+)(?::(\d+)(?::\d+)?)?/;
/** What our own build program reports is a sentence for people already. */
const ours =
  /^(?:The build|The source contains|Sites are static files|A build has no network|astro\.config is not valid|The package ")/;

export function reasonOf(error: Fault | null | undefined): Reason {
  if (!error) return { sentence: 'The build failed.', raw: null };
  const { code, message } = error;
  if (code !== 'build_failed' || ours.test(message)) return { sentence: message, raw: null };
  const [, file, line] = place.exec(message) ?? [];
  if (!file) return { sentence: 'The site’s code has an error.', raw: message };
  const where = line === undefined ? file : `${file}, line ${line}`;
  return { sentence: `The site’s code has an error in ${where}.`, raw: message };
}
