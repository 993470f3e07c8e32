/** Blocks of sites by an operator, and their consequences. All other code uses these functions. Pure. */
import type { SiteStatus } from '#rules/states.ts';

type Blockable = {
  blockedAt?: Date | null | undefined;
  blockReason?: string | null | undefined;
  ownerBlockedAt?: Date | null | undefined;
};

/** Shown to anyone but the owner, who alone can read the reason of the account's block. */
export const ownerBlockedReason = 'The owner’s account is blocked.';

/** Since when and why the site, or its owner's account, is blocked; null if neither is. */
export function blockOf({ blockedAt, blockReason, ownerBlockedAt }: Blockable): { at: Date; reason: string } | null {
  if (blockedAt && blockReason) return { at: blockedAt, reason: blockReason };
  return ownerBlockedAt ? { at: ownerBlockedAt, reason: ownerBlockedReason } : null;
}

/** Whether the site is archived or blocked. A closed site accepts nothing from visitors. */
export function isClosed(site: { status: SiteStatus } & Blockable): boolean {
  return site.status === 'archived' || blockOf(site) !== null;
}

/** Whether visitors can open the site at its address. */
export function isOpen(
  site: Parameters<typeof isClosed>[0] & { liveDeploymentId?: string | null | undefined },
): boolean {
  return !isClosed(site) && site.liveDeploymentId != null;
}

/**
 * Whether the content for visitors may change. Not while the owner's account is blocked: the site returns unchanged
 * afterwards. The owner of a site that is itself blocked may repair it.
 */
export function isChangeable({ status, ownerBlockedAt }: { status: SiteStatus } & Blockable): boolean {
  return status === 'active' && !ownerBlockedAt;
}
