import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import { surfaceOf } from '#api/operations/next-steps.ts';
import { call, type Surface } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import type { SkillPage, SkillTree } from '#skill/tree.ts';
import { llmsText } from './llms-text.ts';
import { forSurface } from './tree.ts';

const skillSchema = z
  .object({
    version: z.string().describe('Changes whenever any file of the skill changes.'),
    files: z.array(z.object({ path: z.string(), bytes: z.number().int(), sha256: z.string() })),
  })
  .meta({ id: 'Skill' });

/** The skill tree for clients with a token. */
export function skillRoutes(app: Api, tree: SkillTree): void {
  app.get(
    '/v1/skill',
    {
      config: { operation: 'skill.list', needs: 'any' },
      schema: {
        summary: 'List the skill files',
        description:
          'These files teach an agent to build a good site on this platform; read `SKILL.md` first. They are also public at `/skill/`.',
        response: { 200: skillSchema },
      },
    },
    async (request) => skillView(tree, surfaceOf(request)),
  );

  app.get(
    '/v1/skill/*',
    {
      config: { operation: 'skill.read', needs: 'any', answers: ['text/markdown', 'text/javascript'] },
      schema: {
        summary: 'Read a skill file',
        description:
          'SKILL.md names the pages. `reference/serving.md` is about redirects, frames, caching and search engines, `reference/languages.md` about translations.',
        params: z.object({
          '*': z.string().default('SKILL.md').describe('A path from the list, such as `stages/design.md`.'),
        }),
        response: { 200: z.any().describe('The file.') },
      },
    },
    async (request, reply) => send(request, reply, fileAt(tree, request.params['*'])),
  );
}

/** The public skill tree and `/llms.txt`, for agents without a token. */
export function skillPages(scope: Api, { config }: Deps, tree: SkillTree): void {
  const connects = capabilitiesOf(config).email_signin;
  const options = (operation: string) => ({ config: { operation }, schema: { hide: true } });
  scope.get('/llms.txt', options('llms.read'), async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').send(llmsText(config.baseUrl, tree, { connects })),
  );
  scope.get('/skill/', options('skill.list_open'), async (request) => skillView(tree, surfaceOf(request)));
  scope.get<{ Params: { '*': string } }>('/skill/*', options('skill.read_open'), async (request, reply) =>
    send(request, reply, fileAt(tree, request.params['*'])),
  );
}

function skillView({ version, files }: SkillTree, surface: Surface): z.output<typeof skillSchema> {
  const shown = [...files.values()].map((file) => forSurface(file, surface));
  return { version, files: shown.map(({ path, bytes, sha256 }) => ({ path, bytes: bytes.length, sha256 })) };
}

function fileAt({ files }: SkillTree, path: string): SkillPage {
  const file = files.get(path);
  if (file) return file;
  throw errors.not_found('The skill has no file at this path.', {
    nextAction: `Call ${call('skill.list')} to list the files.`,
  });
}

/** In the words of the caller's surface. */
function send(request: FastifyRequest, reply: FastifyReply, file: SkillPage): FastifyReply {
  const { bytes, sha256, type } = forSurface(file, surfaceOf(request));
  const etag = `"${sha256}"`;
  reply.headers({ etag, 'cache-control': 'no-cache' });
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(bytes);
}
