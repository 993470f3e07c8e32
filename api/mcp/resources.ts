/** The skill tree as MCP resources, with its public URLs and the names of tools. */
import type { ReadResourceResult, Resource } from '@modelcontextprotocol/sdk/types.js';
import { forSurface } from '#api/skill/tree.ts';
import { type SkillFile, type SkillTree, titleOf } from '#skill/tree.ts';

export function resourcesOf({ files }: SkillTree, baseUrl: string): Resource[] {
  return [...files.values()].map((file) => ({
    uri: uriOf(file, baseUrl),
    name: file.path,
    title: titleOf(file),
    mimeType: typeOf(file),
    size: forSurface(file, 'mcp').bytes.length,
    annotations: { audience: ['assistant'], priority: file.path === 'SKILL.md' ? 1 : 0.5 },
  }));
}

/** The file with this URL; `undefined` if there is none. */
export function readResource(tree: SkillTree, baseUrl: string, uri: string): ReadResourceResult | undefined {
  const file = [...tree.files.values()].find((one) => uriOf(one, baseUrl) === uri);
  return file && { contents: [{ uri, mimeType: typeOf(file), text: forSurface(file, 'mcp').bytes.toString() }] };
}

const uriOf = ({ path }: SkillFile, baseUrl: string) => `${baseUrl}/skill/${path}`;
const typeOf = ({ type }: SkillFile) => type.split(';', 1)[0] ?? type;
