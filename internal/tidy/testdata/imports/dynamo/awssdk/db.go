package awssdk

import _ "github.com/aws/aws-sdk-go-v2/aws"
