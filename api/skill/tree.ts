/** The skill tree of this installation. It is read once: files and capabilities do not change while a process runs. */

import { type Capability, capabilitiesOf } from '#api/capabilities.ts';
import { packageGroups } from '#providers/sandbox/image/offered-packages.ts';
import { inToolNames } from '#rules/calls/tool-names.ts';
import type { Config } from '#runtime/config.ts';
import { loadSkillTree, type SkillFile, type SkillTree } from '#skill/tree.ts';

const opened = new WeakMap<Config, Promise<SkillTree>>();

export function skillOf(config: Config): Promise<SkillTree> {
  const known = opened.get(config);
  if (known) return known;
  const on = capabilitiesOf(config);
  const tree = loadSkillTree({
    baseUrl: config.baseUrl,
    packages: packageGroups(),
    isOn: (capability) => on[capability as Capability] === true,
  });
  opened.set(config, tree);
  return tree;
}

const forTools = new WeakMap<SkillFile, SkillFile>();

/** A page as a model with tools reads it: calls of the API have the names of their operations. */
export function forModel(file: SkillFile): SkillFile {
  if (!file.path.endsWith('.md')) return file;
  const known = forTools.get(file);
  if (known) return known;
  const read = { ...file, bytes: Buffer.from(inToolNames(file.bytes.toString())) };
  forTools.set(file, read);
  return read;
}
