import { isUuid } from '../../common/kernel/ids.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import type { Role } from '../repositories/roles.ts';
import type { ScimGroup } from '../repositories/scim-resources.ts';
import { type Fields, textField } from './fields.ts';
import { GROUP_TYPE } from './schema.ts';
import { scimError } from './scim-error.ts';
import { SCIM_PATH } from './user-resource.ts';

/** A role of a tenant as its directory sees it. */
export interface Group {
  readonly role: Role;
  /** Null when the directory has not spoken of it yet. */
  readonly record: ScimGroup | null;
  readonly members: readonly GroupMember[];
}

export interface GroupMember {
  readonly id: string;
  readonly email: string;
}

export function presentGroup({ role, record, members }: Group): Fields {
  return {
    schemas: [GROUP_TYPE.schema.id],
    id: role.id,
    ...(record === null || record.externalId === null ? {} : { externalId: record.externalId }),
    displayName: role.name,
    members: members.map(({ id, email }) => ({
      ...{ value: id, display: email, type: 'User', $ref: `${SCIM_PATH}/Users/${id}` },
    })),
    meta: {
      resourceType: GROUP_TYPE.name,
      created: role.createdAt,
      lastModified: record?.updatedAt ?? role.createdAt,
      location: `${SCIM_PATH}${GROUP_TYPE.endpoint}/${role.id}`,
    },
  };
}

/** 400 `invalidValue` when there is none. */
export function requireDisplayName(fields: Fields): string {
  const name = textField(fields, 'displayName')?.trim() ?? '';
  if (name === '') throw scimError(400, 'displayName is required.', 'invalidValue');
  return name;
}

/** 400 `invalidValue` for what is no id of a user, groups in groups too. */
export function memberIds(fields: Fields): readonly string[] {
  const members = Array.isArray(fields['members']) ? (fields['members'] as readonly unknown[]) : [];
  const ids = members.map((member) => {
    const value = isRecord(member) ? member['value'] : undefined;
    if (typeof value === 'string' && isUuid(value)) return value.toLowerCase();
    throw scimError(400, 'Each member must have the id of a user as its value.', 'invalidValue');
  });
  return [...new Set(ids)];
}
