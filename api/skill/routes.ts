import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../deps.ts';
import { errors } from '../../errors.ts';
import type { SkillFile, SkillTree } from '../../skill/tree.ts';
import type { Api } from '../api.ts';
import { capabilitiesOf } from '../capabilities.ts';
import { llmsText } from './llms-text.ts';

const skillSchema = z
  .object({
    version: z.string().describe('Changes with any byte of the tree.'),
    files: z.array(z.object({ path: z.string(), bytes: z.number().int(), sha256: z.string() })),
  })
  .meta({ id: 'Skill' });

/** The skill tree for who has a token. */
export function skillRoutes(app: Api, tree: SkillTree): void {
  app.get(
    '/v1/skill',
    {
      config: { operation: 'skill.list' },
      schema: {
        summary: 'List the files of the skill',
        description:
          'What an agent reads to build a good site here, `SKILL.md` first. Without a token it stands below `/skill/`.',
        response: { 200: skillSchema },
      },
    },
    async () => skillView(tree),
  );

  app.get(
    '/v1/skill/*',
    {
      config: { operation: 'skill.read', answers: ['text/markdown', 'text/javascript'] },
      schema: {
        summary: 'Read a file of the skill',
        params: z.object({ '*': z.string().describe('As the list has it, `stages/design.md`.') }),
        response: { 200: z.any().describe('The file.') },
      },
    },
    async (request, reply) => send(request, reply, fileAt(tree, request.params['*'])),
  );
}

/** The same tree, and the address that agents look at first, for who has no token yet. */
export function skillPages(scope: Api, { config }: Deps, tree: SkillTree): void {
  const connects = capabilitiesOf(config).email_signin;
  const options = (operation: string) => ({ config: { operation }, schema: { hide: true } });
  scope.get('/llms.txt', options('llms.read'), async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(llmsText(config.baseUrl, tree, { connects })),
  );
  scope.get('/skill/', options('skill.list_open'), async () => skillView(tree));
  scope.get<{ Params: { '*': string } }>('/skill/*', options('skill.read_open'), async (request, reply) =>
    send(request, reply, fileAt(tree, request.params['*'])),
  );
}

function skillView({ version, files }: SkillTree): z.output<typeof skillSchema> {
  return {
    version,
    files: [...files.values()].map(({ path, bytes, sha256 }) => ({ path, bytes: bytes.length, sha256 })),
  };
}

function fileAt({ files }: SkillTree, path: string): SkillFile {
  const file = files.get(path);
  if (file) return file;
  throw errors.not_found('The skill has no file of that path.', {
    nextAction: 'Read GET /v1/skill for the paths it has.',
  });
}

function send(request: FastifyRequest, reply: FastifyReply, { bytes, sha256, type }: SkillFile): FastifyReply {
  const etag = `"${sha256}"`;
  reply.headers({ etag, 'cache-control': 'no-cache' });
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(bytes);
}
