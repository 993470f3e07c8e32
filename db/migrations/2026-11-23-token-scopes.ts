import { Migration } from '@mikro-orm/migrations';

/** What a token may do, and what an owner allowed it to do once. Tokens of before may do everything that their account may. */
export class TokenScopes extends Migration {
  override up(): void {
    this.addSql(`
      alter table token add column scope jsonb not null
        default '{"sites": "all", "access": "write", "payouts": true, "account": true}';
      alter table oauth_code add column scope jsonb not null
        default '{"sites": "all", "access": "write", "payouts": false, "account": false}';
      alter table access_request add column scope jsonb;

      create table scope_allowance (
        token_id text not null references token on delete cascade,
        operation text not null,
        -- The path of the call, which names what it acts on.
        subject text not null,
        -- What the token lacks for the call.
        missing jsonb not null,
        -- What the token may give to a token that the call creates.
        hands_on jsonb not null,
        created_at timestamptz not null,
        expires_at timestamptz not null,
        used_at timestamptz,
        -- The idempotency key of the call that used it, which may be repeated.
        used_with text,
        primary key (token_id, operation, subject)
      );
      create index on scope_allowance (expires_at);
    `);
  }
}
