/** The skill tree of this installation. It is read once: files and capabilities do not change while a process runs. */

import { type Capability, capabilitiesOf } from '#api/capabilities.ts';
import { packageGroups } from '#providers/sandbox/image/offered-packages.ts';
import type { Surface } from '#rules/calls/calls.ts';
import { inCommands, inToolNames } from '#rules/calls/tool-names.ts';
import type { Config } from '#runtime/config.ts';
import { fileOf, loadSkillTree, type SkillFile, type SkillPage, type SkillTree } from '#skill/tree.ts';

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

const inWords = { mcp: inToolNames, client: inCommands } as const;
const written = { mcp: new WeakMap<SkillPage, SkillFile>(), client: new WeakMap<SkillPage, SkillFile>() };

/** A page as its reader makes calls: by the names of operations with tools, as commands in a terminal. */
export function forSurface(file: SkillPage, surface: Surface): SkillFile {
  if (surface === 'http' || !file.path.endsWith('.md')) return file;
  const known = written[surface].get(file);
  if (known) return known;
  const page = fileOf(file.path, inWords[surface](file.texts[surface]));
  written[surface].set(file, page);
  return page;
}
