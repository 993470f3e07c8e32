/** What a person of the platform has stopped, and what follows of it for a site: the one place for both. Pure. */
import type { SiteStatus } from '#rules/states.ts';

type Blockable = {
  blockedAt?: Date | null | undefined;
  blockReason?: string | null | undefined;
  ownerBlockedAt?: Date | null | undefined;
};

/** What is said of a site where the reason is its owner's to read. */
export const ownerBlockedReason = 'The account of its owner is blocked.';

/** Since when a person of the platform has the site off the web, itself or with its owner's account, and why; null as a rule. */
export function blockOf({ blockedAt, blockReason, ownerBlockedAt }: Blockable): { at: Date; reason: string } | null {
  if (blockedAt && blockReason) return { at: blockedAt, reason: blockReason };
  return ownerBlockedAt ? { at: ownerBlockedAt, reason: ownerBlockedReason } : null;
}

/** Whether the site is off the web, by its owner or by a person of the platform: it takes nothing from strangers then. */
export function isClosed(site: { status: SiteStatus } & Blockable): boolean {
  return site.status === 'archived' || blockOf(site) !== null;
}

/**
 * Whether what its visitors see may change. With its owner's account blocked a site comes back as it was; one that is blocked by itself is
 * mended meanwhile.
 */
export function isChangeable({ status, ownerBlockedAt }: { status: SiteStatus } & Blockable): boolean {
  return status === 'active' && !ownerBlockedAt;
}
