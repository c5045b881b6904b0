import type { Command } from './command.ts';
import { accountCredit, accountList, accountShow } from './commands/account.ts';
import { actList } from './commands/act.ts';
import { attentionList, attentionResolve } from './commands/attention.ts';
import { backup, restore } from './commands/backup.ts';
import { channelList, channelPause, channelResume, channelTest } from './commands/channel.ts';
import { configCheck, configSchema } from './commands/config.ts';
import { doctor } from './commands/doctor.ts';
import { jobList, jobShow } from './commands/job.ts';
import { consoleKey, keysDerive } from './commands/keys.ts';
import { ledgerRebuild, ledgerVerify } from './commands/ledger.ts';
import { mediaVerify } from './commands/media.ts';
import { migrate } from './commands/migrate.ts';
import { priceList } from './commands/price.ts';
import { profile } from './commands/profile.ts';
import { taskList, taskShow } from './commands/task.ts';
import { tokenCreate, tokenLimit, tokenList, tokenRevoke } from './commands/token.ts';
import { usageShow } from './commands/usage.ts';
import { videoCreate, videoSave } from './commands/video.ts';
import {
  webhookCreate,
  webhookDelete,
  webhookDeliveries,
  webhookDelivery,
  webhookList,
  webhookResend,
  webhookResendFailed,
  webhookRotate,
  webhookShow,
  webhookTest,
  webhookUpdate,
} from './commands/webhook.ts';
import { newCompletionCommand } from './completion/completion.ts';

/**
 * Every command by its words, in the order of the help. A new command is an export of its noun's file in `commands/`, and a
 * row here.
 */
export const COMMANDS: Readonly<Record<string, Command>> = {
  doctor,
  'video create': videoCreate,
  'video save': videoSave,
  'account list': accountList,
  'account show': accountShow,
  'account credit': accountCredit,
  'token create': tokenCreate,
  'token list': tokenList,
  'token limit': tokenLimit,
  'token revoke': tokenRevoke,
  'task list': taskList,
  'task show': taskShow,
  'job list': jobList,
  'job show': jobShow,
  'webhook create': webhookCreate,
  'webhook list': webhookList,
  'webhook show': webhookShow,
  'webhook update': webhookUpdate,
  'webhook delete': webhookDelete,
  'webhook rotate': webhookRotate,
  'webhook test': webhookTest,
  'webhook deliveries': webhookDeliveries,
  'webhook delivery': webhookDelivery,
  'webhook resend': webhookResend,
  'webhook resend-failed': webhookResendFailed,
  'attention list': attentionList,
  'attention resolve': attentionResolve,
  'ledger verify': ledgerVerify,
  'ledger rebuild': ledgerRebuild,
  'price list': priceList,
  'usage show': usageShow,
  'channel list': channelList,
  'channel test': channelTest,
  'channel pause': channelPause,
  'channel resume': channelResume,
  'act list': actList,
  'media verify': mediaVerify,
  'console key': consoleKey,
  'keys derive': keysDerive,
  migrate,
  backup,
  restore,
  profile,
  'config check': configCheck,
  'config schema': configSchema,
  completion: newCompletionCommand(() => COMMANDS),
};
