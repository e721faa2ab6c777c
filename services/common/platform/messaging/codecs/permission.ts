import * as wire from '../../../../../proto/gen/engram/auth/v1/permission_pb.ts';
import type { Permission } from '../../../kernel/principal.ts';
import { enumMapping } from '../codec.ts';

export const permission = enumMapping<Permission, wire.Permission>({
  read: wire.Permission.READ,
  write: wire.Permission.WRITE,
  delete: wire.Permission.DELETE,
  share: wire.Permission.SHARE,
});
