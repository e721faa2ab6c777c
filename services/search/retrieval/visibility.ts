import type { DataItemId } from '../../common/domain/brand.ts';
import type { DatasetScope } from '../../common/domain/scope.ts';
import type { Provenance } from '../../common/ports/index-entry.ts';
import { type Ledger, visible } from '../../common/repositories/ledger.ts';

/** Keeps what the ledger has committed, for one request: each item is looked up once, in batches. */
export interface Visibility {
  filter<Row extends Provenance>(rows: readonly Row[]): Promise<readonly Row[]>;
}

export function createVisibility(ledger: Ledger, scope: DatasetScope): Visibility {
  const committed = new Map<DataItemId, number>();
  const asked = new Set<DataItemId>();
  return {
    async filter(rows) {
      const unknown = new Set<DataItemId>();
      for (const row of rows) if (!asked.has(row.item)) unknown.add(row.item);
      if (unknown.size > 0) {
        const found = await ledger.committed(scope, [...unknown]);
        for (const item of unknown) asked.add(item);
        for (const [item, generation] of found) committed.set(item, generation);
      }
      return visible(rows, committed);
    },
  };
}
