import { Migration } from '@mikro-orm/migrations';

/** Calls that were refused for the scope of their token, until the owner answers: the inbox lists them. */
export class RefusedCalls extends Migration {
  override up(): void {
    this.addSql(`
      create table refused_call (
        id text primary key,
        token_id text not null references token on delete cascade,
        account_id text not null references account,
        operation text not null,
        -- The path of the call, which names what it acts on.
        subject text not null,
        -- What the operation does, in a few words.
        summary text not null,
        -- What the token lacks for the call.
        missing jsonb not null,
        -- Whether the call may do this, but not give it to the token that it makes.
        hands_on boolean not null,
        answer text check (answer in ('once', 'always', 'refused')),
        created_at timestamptz not null,
        expires_at timestamptz not null,
        unique (token_id, operation, subject)
      );
      create index on refused_call (account_id, created_at);
      create index on refused_call (expires_at);

      create trigger refused_call_inbox after insert or update of created_at on refused_call
        for each row execute function account_inbox();
    `);
  }
}
