/** Faults that were looked at, and why the release before lives with each. An entry that meets no fault any more fails the test. */
export const judged: Record<string, string> = {
  'new restraint account CHECK (((blocked_at IS NULL) = (block_reason IS NULL)))':
    'It neither reads nor writes these columns.',
  'new restraint account CREATE TRIGGER account_blocked AFTER UPDATE OF blocked_at ON public.account FOR EACH ROW WHEN ((old.blocked_at IS DISTINCT FROM new.blocked_at)) EXECUTE FUNCTION account_blocked() as 2070a52f4bc34d2f564cc0e3a810d9ab':
    'It never writes the column.',
  'new restraint site CREATE TRIGGER site_changed BEFORE INSERT OR UPDATE OF name, status, live_deployment_id, redirects_sha256, blocked_at, owner_blocked_at ON public.site FOR EACH ROW EXECUTE FUNCTION site_changed() as 25028cd23a73b8182388016a4c3e47b4':
    'The same for what it writes: one more column is watched.',
  'new restraint site CREATE TRIGGER site_of_blocked_account BEFORE INSERT ON public.site FOR EACH ROW EXECUTE FUNCTION site_of_blocked_account() as 404e9dfb08a305182641a6f8c9d7a970':
    'It fills a column that it does not know, and refuses nothing.',
};
