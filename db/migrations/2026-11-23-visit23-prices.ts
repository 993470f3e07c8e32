import { Migration } from '@mikro-orm/migrations';

/** Prices of earlier timetables are of a whole booking; new ones say whether they are of a seat. */
export class Prices extends Migration {
  override up(): void {
    this.addSql(`
      update bookable set services = (
        select jsonb_agg(
          case when jsonb_typeof(one -> 'price') = 'object' and one -> 'price' -> 'per' is null
            then jsonb_set(one, '{price,per}', '"booking"') else one end
          order by nth
        )
        from jsonb_array_elements(services) with ordinality as listed (one, nth)
      )
      where jsonb_array_length(services) > 0;
    `);
  }
}
