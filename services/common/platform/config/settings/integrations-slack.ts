import * as type from '../value-types.ts';
import { rowsOf } from './setting.ts';

const { address, flag, secret, setting, text } = rowsOf('Integrations');

/** The Slack app by which workspaces are connected. */
export const slack = {
  slackClientId: text('SLACK_CLIENT_ID', 'Client id of the Slack app.'),
  slackClientSecret: secret('SLACK_CLIENT_SECRET', 'Client secret of the Slack app.'),
  slackSigningSecret: secret(
    'SLACK_SIGNING_SECRET',
    'Signing secret of the app, whose requests go to `<public address>/api/v1/slack/events`, `/slack/commands` and `/slack/interactive`; it also signs the state of installs and links of members.',
  ),
  slackRedirectUri: address(
    'SLACK_REDIRECT_URI',
    'Redirect URL of the app, exactly as it is registered. Unset: `<ENGRAM_PUBLIC_URL>/api/v1/integrations/slack/callback`.',
  ),
  slackFrontendUrl: address(
    'SLACK_FRONTEND_BASE_URL',
    'Where the browser returns after an install, and where members link their account: `<it>/link-slack`. Unset: the console, with ENGRAM_PUBLIC_URL.',
  ),
  slackHistorySync: flag('SLACK_HISTORY_SYNC_ENABLED', 'true', 'Standing imports of channels start by themselves.'),
  slackUrl: setting('ENGRAM_SLACK_URL', {
    type: type.httpUrl(),
    default: 'https://slack.com',
    meaning: 'Address of Slack; `https://slack-gov.com` for GovSlack.',
  }),
};
