/** The skill tree of this installation. It is read once: files and capabilities do not change while a process runs. */

import { type Capability, capabilitiesOf } from '#api/capabilities.ts';
import { packageGroups } from '#providers/sandbox/image/offered-packages.ts';
import type { Config } from '#runtime/config.ts';
import { loadSkillTree, type SkillTree } from '#skill/tree.ts';

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
