// SPDX-License-Identifier: Apache-2.0
// One element of the table, for the file that SQL names. Included once for each file, so without a guard.
{&SQL[sizeof "../../migrations/" - 1], (const unsigned char[]){
#embed SQL
}, sizeof (const unsigned char[]){
#embed SQL
}},
#undef SQL
