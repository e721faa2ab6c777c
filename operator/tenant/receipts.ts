import type { Tenant } from '../api/tenant.ts';
import { keepReceipt, type Receipt } from '../keep-receipt.ts';
import type { TenantContext, TenantDependencies } from './dependencies.ts';
import { boundedName } from './names.ts';

/** Writes what is left of a tenant. Answers the name. */
export async function writeReceipt(
  deps: Pick<TenantDependencies, 'client' | 'options'>,
  context: TenantContext,
  receipt: Receipt,
): Promise<string> {
  const name = receiptName(context.object, receipt.kind);
  return keepReceipt(deps, context, { ...receipt, name, of: 'Tenant' });
}

export function receiptName({ metadata }: Pick<Tenant, 'metadata'>, kind: Receipt['kind']): string {
  return boundedName(metadata.name, kind.toLowerCase(), (metadata.uid ?? '').slice(0, 8));
}
