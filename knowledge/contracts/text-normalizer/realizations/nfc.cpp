// begin generated
// end generated
