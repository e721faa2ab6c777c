import * as wire from '../../contracts/engram/auth/v1/permission_pb.ts';
import type { Permission } from '../../domain/principal.ts';
import { enumMapping } from '../codec.ts';

export const permission = enumMapping<Permission, wire.Permission>({
  read: wire.Permission.READ,
  write: wire.Permission.WRITE,
  delete: wire.Permission.DELETE,
  share: wire.Permission.SHARE,
});
