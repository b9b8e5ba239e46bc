// SPDX-License-Identifier: Apache-2.0
// One element of the table, for the file named by SQL. It is included once for each file, so it has no guard.
{&SQL[sizeof "../../migrations/" - 1], (const unsigned char[]){
#embed SQL
}, sizeof (const unsigned char[]){
#embed SQL
}},
#undef SQL
