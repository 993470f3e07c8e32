import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { Account } from '#db/accounts/account.ts';

export const collaboratorSchema = z
  .object({
    account_id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.enum(['owner', 'collaborator']),
    since: moment,
  })
  .meta({ id: 'Collaborator' });

export const removedSchema = collaboratorSchema
  .extend({
    ended: z
      .record(z.string(), z.number().int())
      .describe('Number of resources that the account had created on the site and that are now revoked, by kind.'),
    moved: z
      .record(z.string(), z.array(z.string()))
      .describe('Resources whose notify_to has changed from the account’s address to the owner’s.'),
  })
  .meta({ id: 'RemovedCollaborator' });

export const collaboratorParams = z.object({ id: z.string(), account_id: z.string() });
export const siteInvitationParams = z.object({ id: z.string(), invitation_id: z.string() });

export type Member = { account: Account; role: 'owner' | 'collaborator'; since: Date };

export type RemovedMember = Member & { ended: Record<string, number>; moved: Record<string, string[]> };

export function collaboratorView({ account, role, since }: Member): z.output<typeof collaboratorSchema> {
  return { account_id: account.id, email: account.email, name: account.name, role, since };
}
