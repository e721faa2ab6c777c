import { HttpError } from '../../common/platform/http/http-error.ts';

/** RFC 7644 §3.12, table 9. */
export type ScimErrorType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

export const SCIM_MEDIA_TYPE = 'application/scim+json';

export function scimError(status: number, detail: string, scimType?: ScimErrorType): HttpError {
  return new HttpError(status, scimErrorBody(status, detail, scimType));
}

export function scimErrorBody(status: number, detail: string, scimType?: ScimErrorType) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail,
  };
}
