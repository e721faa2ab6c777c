import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Dataset, DatasetSchema, IdList } from '../../../../../proto/gen/engram/common/v1/dataset_pb.ts';
import type {
  PresentedKeySchema,
  PrincipalSchema,
  PresentedKey as WireKey,
  Principal as WirePrincipal,
} from '../../../../../proto/gen/engram/common/v1/principal_pb.ts';
import type { Brand, DatasetId, TenantId } from '../../../kernel/brand.ts';
import type { DatasetRef } from '../../../kernel/dataset.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Permission, PresentedKey, Principal } from '../../../kernel/principal.ts';

/** Ids were checked where they came in; between services they are taken as they are. */
export const idOf = <Id extends Brand<string>>(text: string): Id => text as unknown as Id;

export function toPrincipal(principal: Principal): MessageInitShape<typeof PrincipalSchema> {
  const { id, email, tenant, isSuperuser, parentId } = principal;
  return { id, email, tenant, isSuperuser, parentId: parentId ?? undefined, key: toKey(principal.key) };
}

export function fromPrincipal({ id, email, tenant, isSuperuser, parentId, key }: WirePrincipal): Principal {
  return {
    id: idOf(id),
    email,
    tenant: idOf(tenant),
    isSuperuser,
    parentId: parentId === undefined ? null : idOf(parentId),
    ...maybe('key', key && fromKey(key)),
  };
}

function toKey(key: PresentedKey | undefined): MessageInitShape<typeof PresentedKeySchema> | undefined {
  if (key === undefined) return undefined;
  const { id, permissions, datasets, tenant } = key;
  return { id, permissions: toIdList(permissions ?? undefined), datasets: toIdList(datasets ?? undefined), tenant };
}

function fromKey({ id, permissions, datasets, tenant }: WireKey): PresentedKey {
  return {
    id,
    permissions: permissions === undefined ? null : (permissions.values as Permission[]),
    datasets: datasets === undefined ? null : datasets.values.map<DatasetId>(idOf),
    ...(tenant === undefined ? {} : { tenant: idOf<TenantId>(tenant) }),
  };
}

export function toDataset(dataset: DatasetRef): MessageInitShape<typeof DatasetSchema> {
  const { id, name, ownerId, tenant, createdAt, updatedAt } = dataset;
  return { id, name, ownerId, tenant, createdAt, updatedAt: updatedAt ?? undefined };
}

export function fromDataset({ id, name, ownerId, tenant, createdAt, updatedAt }: Dataset): DatasetRef {
  return {
    id: idOf(id),
    name,
    ownerId: idOf(ownerId),
    tenant: idOf(tenant),
    createdAt,
    updatedAt: updatedAt ?? null,
  };
}

/** A list that may be absent. */
export function toIdList(values: readonly string[] | undefined): { readonly values: string[] } | undefined {
  return values === undefined ? undefined : { values: [...values] };
}

/** The list under `name`, or nothing. */
export function fromIdList<Name extends string>(name: Name, list: IdList | undefined) {
  return maybe<Name, readonly string[]>(name, list?.values);
}

/** The optional field under `name`, or nothing. */
export function maybe<Name extends string, Value>(name: Name, value: Value | undefined) {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: Value };
}

/** Objects of clients travel as JSON text: nested to 500 levels, where `google.protobuf.Struct` ends at 33. */
export function toJsonText(value: JsonObject): string {
  return JSON.stringify(value);
}

export function fromJsonText(text: string): JsonObject {
  return JSON.parse(text) as JsonObject;
}
