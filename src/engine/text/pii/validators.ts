// The functions in use of the package validator, each from its own file: the whole package is a hundred modules, which
// every shard's thread would load.
import cardNumber from 'validator/lib/isCreditCard.js';
import iban from 'validator/lib/isIBAN.js';
import identityCard from 'validator/lib/isIdentityCard.js';
import luhnNumber from 'validator/lib/isLuhnNumber.js';
import taxId from 'validator/lib/isTaxID.js';

export const isCreditCard = cardNumber.default;
export const isIBAN = iban.default;
export const isIdentityCard = identityCard.default;
export const isLuhnNumber = luhnNumber.default;
export const isTaxID = taxId.default;
