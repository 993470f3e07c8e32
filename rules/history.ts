/** What a history records: the actions, each with a sentence, and how an actor acted. Pure. */

export const viaKinds = ['token', 'person', 'git', 'platform'] as const;
/** A program with a token, a person in a browser, a git push, or the service itself; the name is the token's. */
export type Via = { kind: (typeof viaKinds)[number]; name: string | null };

type Described = {
  says: string;
  /** About money, payouts, tokens and passwords: only the owner's account sees it. */
  ownersOnly?: true;
};

const owners = (says: string): Described => ({ says, ownersOnly: true });

/** By name: the kind of the subject, a dot, and what was done to it. */
const described = {
  'site.created': { says: 'Created a site.' },
  'site.updated': { says: 'Changed the title or the name of a site.' },
  'site.archived': { says: 'Archived a site.' },
  'site.unarchived': { says: 'Made an archived site active again.' },
  'site.deleted': { says: 'Deleted a site.' },
  'site.restored': { says: 'Restored a deleted site.' },
  'site.purged': { says: 'Removed a deleted site for good.' },
  'site.exported': { says: 'Exported a site as an archive.' },
  'site.published': { says: 'Requested a publish of a site from its source.' },
  'site.blocked': { says: 'The operator blocked a site.' },
  'site.unblocked': { says: 'The operator unblocked a site.' },
  'deployment.created': { says: 'Started an upload of built output.' },
  'deployment.completed': { says: 'Made an upload of built output live.' },
  'deployment.restored': { says: 'Made an earlier version live again.' },
  'preview.built': { says: 'Requested the build of a draft in a preview slot.' },
  'preview.published': { says: 'Requested the publish of a preview slot.' },
  'preview.cleared': { says: 'Emptied a preview slot.' },
  'repository.committed': { says: 'Wrote a commit by a call.' },
  'repository.pushed': { says: 'Pushed to a repository with git.' },
  'repository.merged': { says: 'Merged main into the branch of a preview slot.' },
  'redirects.replaced': { says: 'Replaced the redirects of a site.' },
  'invitation.created': { says: 'Invited a person to a site.' },
  'invitation.withdrawn': { says: 'Withdrew an invitation.' },
  'invitation.accepted': { says: 'Accepted an invitation to a site.' },
  'invitation.declined': { says: 'Declined an invitation to a site.' },
  'collaborator.removed': { says: 'Removed a collaborator from a site.' },
  'collaborator.left': { says: 'Left a site.' },
  'domain.added': { says: 'Added a domain to an account.' },
  'domain.removed': { says: 'Removed a domain from an account.' },
  'domain.attached': { says: 'Attached a domain to a site.' },
  'domain.detached': { says: 'Detached a domain from a site.' },
  'domain_record.added': { says: 'Added a DNS record.' },
  'domain_record.removed': { says: 'Removed a DNS record.' },
  'upload_link.created': { says: 'Created an upload link.' },
  'upload_link.revoked': { says: 'Revoked an upload link.' },
  'review_link.created': { says: 'Created a review link.' },
  'review_link.revoked': { says: 'Revoked a review link.' },
  'git_credential.created': owners('Created a git user name and password.'),
  'git_credential.revoked': owners('Revoked a git user name and password.'),
} as const satisfies Record<string, Described>;

export type Action = keyof typeof described;
export const actions: Readonly<Record<Action, Described>> = described;
export const actionNames = Object.keys(described) as [Action, ...Action[]];

/** The kind of the action's subject: its name up to the dot. */
export const subjectKindOf = (action: string): string => action.split('.', 1)[0] ?? '';
