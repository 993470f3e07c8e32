/** Whether `frontage.toml` can be used. */
import { parseBuildSettings, settingsBytesMax, UnusableSettings } from '#providers/build-settings.ts';
import type { FormatFault } from './formats.ts';

/** The fault of the file; undefined for a valid one. Reads a little more than its limit. */
export async function settingsFault(content: AsyncIterable<Buffer>): Promise<FormatFault | undefined> {
  let head = Buffer.alloc(0);
  for await (const chunk of content) {
    head = Buffer.concat([head, chunk]);
    if (head.length > settingsBytesMax) break;
  }
  try {
    parseBuildSettings(head);
    return undefined;
  } catch (error) {
    if (!(error instanceof UnusableSettings)) throw error;
    const remedy = 'Correct the file; stages/build.md of the skill lists its settings.';
    return { code: 'invalid_file', what: error.message, remedy };
  }
}
