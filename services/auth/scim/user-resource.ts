import { checkEmailAddress } from '../../common/domain/email-address.ts';
import type { JsonObject } from '../../common/kernel/json.ts';
import { isRecord } from '../../common/kernel/objects.ts';
import type { User } from '../../common/records/auth/users.ts';
import type { StoredScimUser } from '../repositories/scim-resources.ts';
import { type Fields, textField } from './fields.ts';
import { ENTERPRISE_SCHEMA, USER_TYPE } from './schema.ts';
import { scimError } from './scim-error.ts';

/** A person of a tenant as its directory sees them. */
export interface Person {
  readonly user: User;
  /** Null for members whom the directory has not spoken of yet. */
  readonly record: StoredScimUser | null;
  readonly isMember: boolean;
}

/** Attributes that stand elsewhere than in the profile. */
const NOT_IN_PROFILE = ['userName', 'externalId', 'active'];

export const SCIM_PATH = '/scim/v2';

export function isActiveHere({ user, isMember }: Person): boolean {
  return user.isActive && isMember;
}

/** What a directory may write, as it stands. */
export function writableFields(person: Person): Fields {
  const { user, record } = person;
  const emails = [{ value: user.email, type: 'work', primary: true }];
  return {
    userName: record?.userName ?? user.email,
    ...(record === null || record.externalId === null ? {} : { externalId: record.externalId }),
    active: isActiveHere(person),
    emails,
    ...(record?.profile as Fields | undefined),
  };
}

export interface PresentedGroup {
  readonly value: string;
  readonly display: string;
}

export function presentPerson(person: Person, groups: readonly PresentedGroup[]): Fields {
  const { user, record } = person;
  const fields = writableFields(person);
  const location = `${SCIM_PATH}${USER_TYPE.endpoint}/${user.id}`;
  return {
    schemas: [USER_TYPE.schema.id, ...(ENTERPRISE_SCHEMA.id in fields ? [ENTERPRISE_SCHEMA.id] : [])],
    id: user.id,
    ...fields,
    groups: groups.map(({ value, display }) => ({ value, display, $ref: `${SCIM_PATH}/Groups/${value}` })),
    meta: {
      resourceType: USER_TYPE.name,
      created: record?.createdAt ?? user.createdAt,
      lastModified: record?.updatedAt ?? user.updatedAt ?? user.createdAt,
      location,
    },
  };
}

export function profileOf(fields: Fields): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !NOT_IN_PROFILE.includes(name)));
}

/** 400 `invalidValue` when there is none. */
export function requireUserName(fields: Fields): string {
  const userName = textField(fields, 'userName')?.trim() ?? '';
  if (userName === '') throw scimError(400, 'userName is required.', 'invalidValue');
  return userName;
}

/** The address of the account: the primary e-mail, else the first, else the userName. 400 `invalidValue` for none. */
export function accountAddress(fields: Fields): string {
  const emails = Array.isArray(fields['emails']) ? (fields['emails'] as readonly unknown[]).filter(isRecord) : [];
  const chosen = emails.find(({ primary }) => primary === true) ?? emails[0];
  const text = typeof chosen?.['value'] === 'string' ? chosen['value'] : requireUserName(fields);
  const { address, reason } = checkEmailAddress(text);
  if (address === undefined) {
    throw scimError(400, `An e-mail address is needed, in emails or as the userName: ${reason}`, 'invalidValue');
  }
  return address;
}
