import { z } from 'zod';
import type { Person } from '#api/access.ts';
import { listOf, pageQuery } from '#api/pagination.ts';
import { moment, via } from '#api/schemas.ts';
import type { GitCredential } from '#db/auth/git-credential.ts';
import type { Repository } from '#rules/states.ts';
import { daySeconds } from '#rules/time.ts';
import type { Config } from '#runtime/config.ts';

const repository = z.enum(['source', 'content']);
const sha = z.string().regex(/^[0-9a-f]{40}$/, 'a commit id must be 40 hexadecimal digits');

export const credentialInput = z.strictObject({
  repository: repository.describe('The repository that the credentials can access.'),
  access: z.enum(['read', 'write']).describe('`read` allows cloning and fetching; `write` also allows pushing.'),
  expires_in_seconds: z
    .number()
    .int()
    .min(60)
    .max(90 * daySeconds)
    .optional()
    .describe(
      'Lifetime of the credentials: 1 minute to 90 days, and not longer than that of your token. The default is one day.',
    ),
  publish: z
    .boolean()
    .default(false)
    .describe(
      'Whether a push to `main` with these credentials publishes the site, if `frontage.toml` there says `publish_on_push = true`. The default is false.',
    ),
});

export const credentialSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    repository,
    access: z.enum(['read', 'write']),
    publish: z.boolean().describe('Whether a push with these credentials may publish the site.'),
    username: z.string(),
    url: z.string().describe('URL of the repository.'),
    created_by: z.string().describe('Id of the account that created the credentials.'),
    created_via: via.describe('What created the credentials. They end with the token that did.'),
    created_at: moment,
    last_used_at: moment.nullable(),
    expires_at: moment,
  })
  .meta({ id: 'GitCredential' });

export const newCredentialSchema = credentialSchema
  .extend({ password: z.string().describe('The password is shown only once.') })
  .meta({ id: 'NewGitCredential' });

export const revokedCredentialSchema = credentialSchema
  .extend({ revoked_at: moment })
  .meta({ id: 'RevokedGitCredential' });

/** The git URL of a site's repository. */
export function repositoryAddress(config: Config, siteId: string, repository: Repository): string {
  return `${config.baseUrl}/git/${siteId}${repository === 'content' ? '.content' : ''}.git`;
}

export function credentialView(
  config: Config,
  credential: GitCredential,
  { accountId }: Person,
): z.output<typeof credentialSchema> {
  const { id, site, repository, access, account, madeBy, makerName } = credential;
  return {
    id,
    site_id: site.id,
    repository,
    access,
    publish: credential.publish,
    username: credential.username,
    url: repositoryAddress(config, site.id, repository),
    created_by: account.id,
    created_via: {
      kind: madeBy ? 'token' : 'person',
      name: account.id === accountId ? (makerName ?? null) : null,
    },
    created_at: credential.createdAt,
    last_used_at: credential.lastUsedAt ?? null,
    expires_at: credential.expiresAt,
  };
}

/** Files that one call reads. */
const filesMax = 20;

export const filesQuery = pageQuery.extend({
  path: z
    .union([
      z.string().max(2048),
      z.array(z.string().max(2048)).max(filesMax, `at most ${filesMax} paths are read at once`),
    ])
    .default('')
    .describe(
      `The path of a folder or file; repeated, up to ${filesMax} files of 1 MiB in all. The default is the root folder.`,
    ),
  ref: z
    .string()
    .max(64)
    .default('main')
    .describe(
      'A branch (`main` or `preview/<n>`), a commit, or a deployment (`dep_…`), which stands for the commits it was built from.',
    ),
  recursive: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true` lists all files in the folder and its subfolders, `false` only its direct entries.'),
});

const commits = z
  .object({ source: z.string().nullable(), content: z.string().nullable() })
  .describe('The commits that the tree was read from; null for a repository that is not part of the tree.');

const folderSchema = listOf(
  z.object({
    path: z.string(),
    kind: z.enum(['file', 'folder']),
    bytes: z.number().int().describe('For a folder, the total size of all files in it and its subfolders.'),
  }),
)
  .extend({ path: z.string(), kind: z.literal('folder'), commits })
  .meta({ id: 'SourceFolder' });

const fileSchema = z
  .object({
    path: z.string(),
    kind: z.literal('file'),
    bytes: z.number().int(),
    sha256: z.string(),
    repository,
    commit: z.string(),
    text: z.string().optional().describe('The content, if the file is UTF-8 text.'),
    base64: z.string().optional().describe('The content in base64, if the file is not UTF-8 text.'),
  })
  .meta({ id: 'SourceFile' });

const severalSchema = z.object({ kind: z.literal('files'), items: z.array(fileSchema) }).meta({ id: 'SourceFiles' });

export const filesSchema = z.union([folderSchema, fileSchema, severalSchema]).meta({ id: 'Files' });

const change = z
  .strictObject({
    path: z.string().max(8192).describe('A path under `src/content/` belongs to the content repository.'),
    text: z.string().optional(),
    base64: z.base64().optional(),
    delete: z.literal(true).optional(),
    edits: z
      .array(z.strictObject({ find: z.string().min(1), replace: z.string() }))
      .min(1)
      .max(100)
      .optional()
      .describe('Changes words of a text file, in order. Each `find` must occur exactly once.'),
  })
  .refine(
    ({ text, base64, delete: remove, edits }) =>
      [text, base64, remove, edits].filter((part) => part !== undefined).length === 1,
    'exactly one of text, base64, edits and delete is required',
  );
export type ChangeInput = z.output<typeof change>;

export const commitInput = z.strictObject({
  message: z
    .string()
    .trim()
    .min(1)
    .max(5000)
    .describe('The commit message, including the reason for the change. Its first line is the subject.'),
  changes: z.array(change).min(1).max(1000).describe('All paths must belong to the same repository.'),
  branch: z
    .string()
    .regex(/^(main|preview\/[1-9][0-9]{0,3})$/, 'branch must be main or preview/<slot>')
    .default('main')
    .describe('`main`, or `preview/<slot>` to change the draft of that preview slot only.'),
  expected_head: sha
    .optional()
    .describe(
      'The commit that the change is based on. If the branch has changed since, the call fails with `stale_hash`.',
    ),
});

export const commitSchema = z
  .object({
    commit: z
      .string()
      .describe(
        'The current head of the branch. If the repository already contains all the changes, no commit is created.',
      ),
    repository,
    branch: z.string(),
    subject: z.string(),
    author: z.string(),
    files_changed: z.number().int().describe('Number of files that the commit added, changed or deleted.'),
    committed_at: moment,
    diff: z.string().describe('What the commit changed, as a unified diff of at most 4,000 characters.'),
  })
  .meta({ id: 'Commit' });
