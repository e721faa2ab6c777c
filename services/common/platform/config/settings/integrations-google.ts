import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, secret, setting, text } = rowsOf('Integrations');

/** One OAuth client per service of Google, or the same one for several. */
const ID = (title: string) => `Client id of the OAuth client by which ${title} is connected.`;
const SECRET = 'Client secret of that client.';
const STATE = 'Any long random text: it signs the state of installs.';
const redirect = (provider: string) =>
  `Redirect address that the client has at Google. Unset: \`<public address>/api/v1/integrations/${provider}/callback\`, with ENGRAM_PUBLIC_URL.`;
const FRONTEND =
  'Where the browser returns after an install: `<it>/integrations`. Unset: the console, with ENGRAM_PUBLIC_URL.';

/** Google Drive, Gmail and Google Calendar. */
export const googleIntegrations = {
  googleDriveClientId: text('GOOGLE_DRIVE_CLIENT_ID', ID('Google Drive')),
  googleDriveClientSecret: secret('GOOGLE_DRIVE_CLIENT_SECRET', SECRET),
  googleDriveStateSecret: secret('GOOGLE_DRIVE_STATE_SECRET', STATE),
  googleDriveRedirectUri: address('GOOGLE_DRIVE_REDIRECT_URI', redirect('google_drive')),
  googleDriveFrontendUrl: address('GOOGLE_DRIVE_FRONTEND_BASE_URL', FRONTEND),
  googleDriveMaxFileSizeMb: setting('GOOGLE_DRIVE_MAX_FILE_SIZE_MB', {
    type: type.integer({ min: 1 }),
    default: '25',
    meaning: 'Larger files of Google Drive are left out.',
  }),
  googleDriveReadGroups: setting('GOOGLE_DRIVE_READ_GROUPS', {
    type: type.flag(),
    default: 'false',
    meaning:
      'Asks who connects Google Drive for a second scope, `cloud-identity.groups.readonly`, so that members of Google groups see what is shared with a group. The Cloud Identity API has to be enabled for the OAuth client.',
  }),
  gmailClientId: text('GOOGLE_GMAIL_CLIENT_ID', ID('Gmail')),
  gmailClientSecret: secret('GOOGLE_GMAIL_CLIENT_SECRET', SECRET),
  gmailStateSecret: secret('GOOGLE_GMAIL_STATE_SECRET', STATE),
  gmailRedirectUri: address('GOOGLE_GMAIL_REDIRECT_URI', redirect('gmail')),
  gmailFrontendUrl: address('GOOGLE_GMAIL_FRONTEND_BASE_URL', FRONTEND),
  googleCalendarClientId: text('GOOGLE_CALENDAR_CLIENT_ID', ID('Google Calendar')),
  googleCalendarClientSecret: secret('GOOGLE_CALENDAR_CLIENT_SECRET', SECRET),
  googleCalendarStateSecret: secret('GOOGLE_CALENDAR_STATE_SECRET', STATE),
  googleCalendarRedirectUri: address('GOOGLE_CALENDAR_REDIRECT_URI', redirect('google_calendar')),
  googleCalendarFrontendUrl: address('GOOGLE_CALENDAR_FRONTEND_BASE_URL', FRONTEND),
  googleUrl: address('ENGRAM_GOOGLE_URL', 'Stands in for every address of Google: that of a gateway to its APIs.'),
};
