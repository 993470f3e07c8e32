import { Migration } from '@mikro-orm/migrations';

/** Commits that a call is about to make, beside the pushes: which commit it was is read from the reflog. */
export class CommitsByCalls extends Migration {
  override up(): void {
    this.addSql(`
      alter table accepted_push
        add column via_kind text not null default 'git',
        -- Of a commit by a call; \`to_commit\` is empty then.
        add column source text,
        add column files_changed integer;
    `);
  }
}
