import { publicIdType } from '@coatcheck/client';

export const channel = publicIdType('channel', 'chn');
export const message = publicIdType('message', 'msg');
